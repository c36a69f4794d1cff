"""A tree in, JSON text out: compact, numbers as they came, no character that has no UTF-8 form."""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from typing import Final

from .snapshot import Tree

_LONE_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_LITERALS: Final = {True: "true", False: "false", None: "null"}


def quoted(text: str) -> str:
    """`text` as a JSON string: as `json.dumps(text, ensure_ascii=False)` writes it, but a lone
    surrogate is escaped."""
    written = encode_basestring(text)
    if written.isascii():
        return written
    return _LONE_SURROGATE.sub(lambda lone: f"\\u{ord(lone.group()):04x}", written)


def escaped(text: str) -> str:
    """`text` as it stands between the quotes."""
    written = encode_basestring(text)
    return written[1:-1] if written.isascii() else quoted(text)[1:-1]


def whole(tree: Tree) -> str:
    """A finished value. Without recursion: what could be decoded can be written."""
    if type(tree) is str:
        return quoted(tree)
    if type(tree) is bytes:
        return str(tree, "ascii")
    out: list[str] = []
    todo: list[tuple[str, Tree, str]] = [("", tree, "")]  # what stands before and after each value
    while todo:
        before, value, after = todo.pop()
        kind = type(value)
        if kind is str:
            out.append(f"{before}{quoted(value)}{after}")
        elif kind is bytes:
            out.append(f"{before}{str(value, 'ascii')}{after}")
        elif kind is dict:
            out.append(before + "{" if value else f"{before}{{}}{after}")
            inside = [(quoted(key) + ":", item, ",") for key, item in value.items()]
            todo += _closed(inside, "}" + after)
        elif kind is list:
            out.append(before + "[" if value else f"{before}[]{after}")
            todo += _closed([("", item, ",") for item in value], "]" + after)
        else:
            out.append(f"{before}{_LITERALS[value]}{after}")
    return "".join(out)


def _closed(inside: list[tuple[str, Tree, str]], end: str) -> list[tuple[str, Tree, str]]:
    if inside:
        before, last, _ = inside[-1]
        inside[-1] = (before, last, end)
        inside.reverse()
    return inside


def settled(text: str) -> int:
    """How much of a growing string will not change: all but a tail that stands for half a
    character (a replacement character, a lone surrogate)."""
    end = len(text)
    while end and (text[end - 1] == "\ufffd" or "\ud800" <= text[end - 1] <= "\udfff"):
        end -= 1
    return end
