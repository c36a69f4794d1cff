"""The command line: filters from standard input or files to standard output, one JSON a line.

app.py        the commands
options.py    makes flags from the table of options, and reads their values
input.py      reads text, lines and events from files, pipes and event streams
output.py     writes lines, colours and event streams; safe on a terminal
elsewhere.py  names the commands of other distributions, and what installs them
"""

from __future__ import annotations

import sys

from .elsewhere import ELSEWHERE, not_installed


def main() -> None:
    """Run the `jsonrill` command."""
    try:
        from .app import run
    except ModuleNotFoundError as missing:
        if missing.name in ("typer", "rich"):
            name = sys.argv[1] if len(sys.argv) > 1 else ""
            what = (name, ELSEWHERE[name]) if name in ELSEWHERE else ("the command line", "cli")
            print(f"jsonrill: {not_installed(*what)}", file=sys.stderr)
            sys.exit(2)
        raise
    run()
