"""Untrusted text on a terminal, and a growing document with a caret where it grows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from .build.document import Document
from .errors import InvalidJSON, LimitExceeded
from .jsontext import dumps
from .paths import Path

CARET = "▌"
# Controls but for tab and newline, and characters that change the direction of text.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


class Screen(Console):
    """A console whose reader may leave: `BrokenPipeError`, where rich would end the program."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def safe(text: str) -> str:
    """Text with the characters that control a terminal written as JSON escapes."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def watched(
    pieces: Iterable[bytes | str], document: Document, console: Console | None = None
) -> None:
    """Feed the document and show it after each piece; an error is raised after the last view."""
    console = console or Screen()
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
    """The view, or its last lines, where it grows, if it is higher than the terminal."""
    lines = view.split("\n")
    return view if len(lines) <= height else Text("\n").join(lines[-height:])


def rendered(value: Any, open_path: Path | None = None) -> Text:
    """The value as indented JSON with colours, and a caret in the value that still grows."""
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
        text.append(dumps(value), style)


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
    return safe(dumps(value))
