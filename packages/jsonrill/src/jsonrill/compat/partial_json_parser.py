"""`from jsonrill.compat import partial_json_parser`: `loads` with a memory for growing texts.

Other names are those of partial-json-parser, if it is installed. Without it `Allow`, its members
and the errors are here too, and what is not JSON is a `MalformedJSON` with jsonrill's message.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from typing import TYPE_CHECKING, Any, Final

from .memory import GrowingText, cut_escape, memory
from .originals import attribute_of, original
from .rust import ASK

_original: Final = original("partial_json_parser")
_loads: Final = getattr(_original, "loads", None)
# The original is written in Python too: it is quicker up to this many characters.
_small: Final = 0 if _original is None else 512
__getattr__ = attribute_of(_original, __name__)

if _original is None or TYPE_CHECKING:

    class JSONDecodeError(ValueError):
        """The base of both errors."""

    class PartialJSON(JSONDecodeError):
        """The text is incomplete in a way that is not allowed."""

    class MalformedJSON(JSONDecodeError):
        """The text is not JSON."""

    class Allow(IntFlag):
        """What may be incomplete."""

        STR, NUM, ARR, OBJ, NULL, BOOL, NAN, INFINITY, _INFINITY = (1 << bit for bit in range(9))
        INF = INFINITY | _INFINITY
        SPECIAL = NULL | BOOL | INF | NAN
        ATOM = STR | NUM | SPECIAL
        COLLECTION = ARR | OBJ
        ALL = ATOM | COLLECTION
else:
    JSONDecodeError = _original.core.exceptions.JSONDecodeError
    PartialJSON, MalformedJSON = _original.PartialJSON, _original.MalformedJSON
    Allow = _original.Allow

STR, NUM, ARR, OBJ, NULL, BOOL = list(Allow)[:6]
NAN, INFINITY, _INFINITY = list(Allow)[6:9]
INF, SPECIAL, ATOM = Allow.INF, Allow.SPECIAL, Allow.ATOM
COLLECTION, ALL = Allow.COLLECTION, Allow.ALL


def loads(
    json_string: str,
    allow_partial: Allow | int = ALL,
    parser: Callable[[str], Any] | None = None,
    use_fast_fix: bool = True,
    *,
    strict: bool = False,
    share: bool = False,
) -> Any:
    """As `partial_json_parser.loads`; `strict` and `share` as in `jsonrill.compat.jiter`."""
    # Its slow way has results of its own, with white space before the value.
    own = strict or _original is None or (use_fast_fix and len(json_string) >= _small)
    if own and parser is None and type(json_string) is str:
        reader = memory().read(json_string, float, strict or _original is None)
        if reader is not None:
            value = _shown(reader, json_string, Allow(allow_partial), strict, share)
            if value is not ASK:
                return value
    if _loads is not None:
        return _loads(json_string, allow_partial, parser, use_fast_fix)
    if parser is not None:
        raise ImportError("parser= needs partial-json-parser, which is not installed")
    raise TypeError(f"a str is needed, not {type(json_string).__name__}")


decode = parse_json = loads


def _shown(reader: GrowingText, text: str, allow: Allow, strict: bool, share: bool) -> Any:
    """What the original shows of a text; `ASK` where only it knows."""
    tree = reader.tree
    alone = strict or _original is None
    if reader.error is not None:
        if alone:
            raise MalformedJSON(str(reader.error)) from None
        return ASK
    # The original has ways of its own with roots that are not containers.
    if not alone and type(tree.root) not in (dict, list):
        return ASK
    if tree.done:
        return tree.shown(share)
    levels = [OBJ if kind is dict else ARR for kind in tree.open_kinds]
    closed = next((at for at, kind in enumerate(levels) if kind not in allow), None)
    pending = _pending(reader, text, allow, strict)
    # And with white space after a number that must not be incomplete. It cuts the text, so that a
    # key whose new value is not shown has its old one.
    odd = (NUM not in allow and text[-1:].isspace()) or (closed is not None and tree.replaced)
    if odd and not alone:
        return ASK
    if closed == 0 or (not levels and not pending):
        raise PartialJSON
    if closed is not None:
        return tree.cut(closed)
    return tree.shown(share, *pending)


def _pending(reader: GrowingText, text: str, allow: Allow, strict: bool) -> tuple[Any, ...]:
    """The value that is being read, in a tuple, if it is shown."""
    tree = reader.tree
    if tree.in_string:
        if STR not in allow:
            return ()
        end = len(text)
        while not strict and text[end - 1].isspace():  # which the original strips
            end -= 1
        shown = tree.open_text()
        return (shown[: end - len(text)] if end < len(text) else shown + half_pair(text),)
    half = reader.half
    if half is None or strict:
        return reader.number(half) if half and tree.inner is None else ()
    if half in "null":
        return (None,) if NULL in allow else ()
    if half in "true" or half in "false":
        return (half[0] == "t",) if BOOL in allow else ()
    return reader.number(half.rstrip(".-+eE")) if NUM in allow else ()


def half_pair(text: str) -> str:
    """The first half of a surrogate pair whose second half has not come."""
    held = cut_escape(text)
    return chr(int(held[2:6], 16)) if len(held) >= 6 else ""
