"""The command line: filters from standard input or files to standard output, one JSON a line.

app.py      the commands
options.py  makes flags from the table of options, and reads their values
input.py    reads text, lines and events from files, pipes and event streams
output.py   writes lines, colours and event streams; safe on a terminal

`serve` and `batch` are commands of other distributions.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `jsonrill` command."""
    try:
        from .app import run
    except ModuleNotFoundError as missing:
        if missing.name in ("typer", "rich"):
            sys.exit("The jsonrill command needs an extra: pip install 'jsonrill[cli]'")
        raise
    run()
