"""What jiter shows of a text that stops early; pydantic_core has the same parser inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .memory import GrowingText, memory

# Up to about this many bytes jiter is quicker than anything written in Python.
SMALL: Final = 2048
# It reads about this many characters in the time in which one of them is read and kept here.
RATIO: Final = 50
# Returned in place of a value.
ASK: Final[Any] = object()
# How each of the originals' values for a mode is read; others are theirs to refuse.
MODES: Final[dict[Any, str]] = {
    False: "off",
    "off": "off",
    True: "on",
    "on": "on",
    "trailing-strings": "trailing-strings",
}


def read(
    text: Any,
    partial: Any,
    parse_float: Callable[[str], Any] | None,
    share: bool,
    strict: bool,
    installed: bool,
) -> Any:
    """The value of a text as jiter gives it in this mode; with `strict`, as jsonrill does.

    `ASK` where the original must be asked.
    """
    # 1 and 0 are equal to True and False, and are refused by the originals.
    mode = MODES.get(partial) if type(partial) in (bool, str) else None
    if mode is None or parse_float is None:
        return ASK
    shared = share is True and installed and not strict
    reader = memory().read(text, parse_float, strict or not installed, RATIO, shared)
    if reader is None:
        # Bytes that end inside a character, or are not UTF-8 at all.
        return ASK if installed else text.decode()
    if strict:
        return _strictly(reader, mode, share)
    if reader.error is not None or reader.lone:
        if installed:
            return ASK
        raise ValueError(str(reader.error or "half of a surrogate pair"))
    tree = reader.tree
    if tree.done or (tree.in_string and mode == "trailing-strings"):
        return reader.shown(share, True)
    if tree.in_string and mode == "on" and reader.inner is not None:
        return ASK if reader.replaces else reader.shown(share)
    half = reader.half
    number = () if half is None else reader.number(half)
    if (reader.inner is None and not number) or (mode == "off" and reader.inner is not None):
        raise ValueError(_ends_early(text, reader, half, number))
    return reader.shown(share, False, *number)


def _strictly(reader: GrowingText, mode: str, share: bool) -> Any:
    """The value without numbers that may go on; the first wrong character is an error."""
    tree = reader.tree
    if reader.error is not None:
        raise reader.error.with_traceback(None)
    if tree.done:
        return tree.shown(share)
    if mode == "off":
        return reader.end(share)
    if tree.in_string and mode == "trailing-strings":
        return tree.shown(share, tree.open_text())
    return tree.shown(share)


def _ends_early(text: Any, reader: GrowingText, half: str | None, number: tuple[Any, ...]) -> str:
    """What jiter says of a text that ends too early."""
    last = text.rstrip(b" \t\r\n" if type(text) is bytes else " \t\r\n")[-1:]
    if reader.tree.in_string or reader.in_key:
        inside = "a string"
    elif (half and not number) or reader.inner is None or last in (b":", b",", ":", ","):
        inside = "a value"
    else:
        inside = "an object" if type(reader.inner) is dict else "a list"
    raw = text if type(text) is bytes else text.encode()
    line, column = raw.count(b"\n") + 1, len(raw) - raw.rfind(b"\n") - 1
    return f"EOF while parsing {inside} at line {line} column {column}"
