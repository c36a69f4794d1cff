"""The command line: filters from files or standard input to one JSON value per line.

commands.py  the commands
options.py   the flags that several commands share
files.py     input files, output lines, and errors as one line
"""

from __future__ import annotations

import sys
from typing import Final

# The commands of other distributions, and the extra that installs each.
EXTRAS: Final = {"serve": "server", "batch": "batch"}


def not_installed(name: str, extra: str) -> str:
    return f'{name} is not installed: pip install "jsonrill[{extra}]"'


def main() -> None:
    """Run the `jsonrill` command."""
    try:
        from .commands import run
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        name = sys.argv[1] if len(sys.argv) > 1 else ""
        what = (name, EXTRAS[name]) if name in EXTRAS else ("the command line", "cli")
        print(f"jsonrill: {not_installed(*what)}", file=sys.stderr)
        sys.exit(2)
    run()
