"""The drop-ins read even the smallest text themselves, so that small texts show what they do."""

from __future__ import annotations

from importlib import import_module

import pytest

from jsonrill.compat import memory, rust

DROP_INS = ("jiter", "pydantic_core", "partial_json_parser", "json_repair", "langchain")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is passed to an original because it is small, or new."""
    monkeypatch.setattr(memory, "MOST_SPENT", 0)
    monkeypatch.setattr(rust, "RATIO", 0)
    for name in DROP_INS:
        monkeypatch.setattr(import_module(f"jsonrill.compat.{name}"), "_small", 0)
