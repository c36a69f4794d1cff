"""What jiter shows of a text that stops early; pydantic_core has the same parser inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .memory import GrowingText, memory

# Up to this many bytes jiter is quicker than anything written in Python.
SMALL: Final = 4096
# It reads about this many characters in the time in which one of them is read and kept here.
RATIO: Final = 100
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
    reader = memory().read(text, parse_float, strict or not installed, RATIO)
    if reader is None:
        # Bytes that end inside a character, or are not UTF-8 at all.
        return ASK if installed else text.decode()
    if strict:
        return _strictly(reader, mode, share)
    tree = reader.tree
    if reader.error is not None or tree.lone:
        if installed:
            return ASK
        raise ValueError(str(reader.error or "half of a surrogate pair"))
    if tree.done:
        return tree.value(share)
    if tree.in_string and tree.depth and mode != "off":
        return tree.value(share, tree.open_text) if mode != "on" else tree.value(share)
    half = reader.half
    number = reader.number(half)
    if mode == "off" and (tree.depth or not number):
        raise ValueError(_ends_early(text, reader, half, number))
    if tree.in_string and mode == "trailing-strings":
        return tree.value(share, tree.open_text)
    if not tree.depth and not number:
        raise ValueError(_ends_early(text, reader, half, number))
    return tree.value(share, *number)


def _strictly(reader: GrowingText, mode: str, share: bool) -> Any:
    """The value without numbers that may go on; the first wrong character is an error."""
    tree = reader.tree
    if reader.error is not None:
        raise reader.error.with_traceback(None)
    if tree.done:
        return tree.value(share)
    if mode == "off":
        return reader.end(share)
    if tree.in_string and mode == "trailing-strings":
        return tree.value(share, tree.open_text)
    return tree.value(share)


def _ends_early(text: Any, reader: GrowingText, half: str | None, number: tuple[Any, ...]) -> str:
    """What jiter says of a text that ends too early."""
    tree = reader.tree
    last = text.rstrip(b" \t\r\n" if type(text) is bytes else " \t\r\n")[-1:]
    if tree.in_string or reader.in_key:
        inside = "a string"
    elif (half is not None and not number) or not tree.depth or last in (b":", b",", ":", ","):
        inside = "a value"
    else:
        inside = "an object" if type(tree.inner) is dict else "a list"
    raw = text if type(text) is bytes else text.encode()
    line, column = raw.count(b"\n") + 1, len(raw) - raw.rfind(b"\n") - 1
    return f"EOF while parsing {inside} at line {line} column {column}"
