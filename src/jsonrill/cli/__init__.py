"""The command line: filters from standard input or files to standard output, one JSON a line.

app.py     the commands and their options; no `if` about JSON in them
batch.py   the command for logs of streams: its job, its progress, its exit codes
options.py what options mean, as they are typed
source.py  where text, lines and events come from: files, pipes, event streams, cut and paced
sink.py    where values go: lines, colours, event streams; safe on a terminal
watch.py   a document growing in the terminal
demo.py    the three jobs in ten seconds, on the streams in streams/
"""

from __future__ import annotations

import sys


def main() -> None:
    """The `jsonrill` command."""
    try:
        from .app import run
    except ModuleNotFoundError as missing:
        if missing.name in ("typer", "rich"):
            sys.exit("The jsonrill command needs an extra: pip install 'jsonrill[cli]'")
        raise
    run()
