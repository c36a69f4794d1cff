"""Commands of other distributions, and what is said where one is not installed."""

from __future__ import annotations

from typing import Final

# The extra that installs each.
ELSEWHERE: Final = {"serve": "server", "batch": "batch"}


def not_installed(name: str, extra: str) -> str:
    return f'{name} is not installed: pip install "jsonrill[{extra}]"'
