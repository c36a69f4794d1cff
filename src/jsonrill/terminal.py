"""Text of strangers on a terminal, and a document growing in it with a mark where it grows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from .build.document import Document
from .errors import InvalidJSON, LimitExceeded
from .paths import Path

CARET = "▌"
# C1 controls, DEL, and the characters that change the direction of what is shown.
_UNSAFE: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def safe(text: str) -> str:
    """JSON text in which everything that a terminal obeys is written as an escape."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def watched(
    pieces: Iterable[bytes | str], document: Document, console: Console | None = None
) -> None:
    """Feed the document and show it after each piece; an error is raised after the last view."""
    console = console or Console()
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:

        def show() -> None:
            view = rendered(document.live, document.open_path) if document.started else Text("")
            live.update(fitted(view, console.height - 1), refresh=True)

        try:
            for piece in pieces:
                if document.feed(piece):
                    show()
            document.flush()
        except (InvalidJSON, LimitExceeded):
            show()
            raise
        show()


def fitted(view: Text, height: int) -> Text:
    """The end of the view, where it grows, when all of it is higher than the terminal."""
    lines = view.split("\n")
    return view if len(lines) <= height else Text("\n").join(lines[-height:])


def rendered(value: Any, open_path: Path | None = None) -> Text:
    """JSON with colours, indented, with a caret at the value that still grows."""
    text = Text()
    _add(text, value, open_path, "")
    return text


def _add(text: Text, value: Any, open_path: Path | None, indent: str) -> None:
    here = open_path == ()
    if isinstance(value, dict | list) and (value or here):
        _add_container(text, value, open_path, indent)
    elif isinstance(value, str):
        text.append(_quoted(value)[:-1] if here else _quoted(value), "green")
        if here:
            text.append(CARET, "bold yellow")
    else:
        style = "magenta" if value is None or isinstance(value, bool) else "yellow"
        text.append(_plain(value), style)


def _add_container(text: Text, value: Any, open_path: Path | None, indent: str) -> None:
    brackets = "{}" if isinstance(value, dict) else "[]"
    inner = indent + "  "
    text.append(brackets[0])
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for count, (step, item) in enumerate(steps):
        text.append(("," if count else "") + "\n" + inner)
        if isinstance(value, dict):
            text.append(_quoted(str(step)), "cyan")
            text.append(": ")
        below = open_path[1:] if open_path and open_path[0] == step else None
        _add(text, item, below, inner)
    if open_path is None:
        text.append("\n" + indent + brackets[1])
    elif open_path == ():
        text.append("\n" + inner)
        text.append(CARET, "bold yellow")


def _quoted(value: str) -> str:
    from .jsontext import dumps

    return safe(dumps(value))


def _plain(value: Any) -> str:
    from .jsontext import dumps

    return dumps(value)
