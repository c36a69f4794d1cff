"""`from jsonrill.compat import json_repair`: `loads` with a memory for growing texts.

All other names are those of json_repair, which must be installed: it reads all that needs a repair.
Valid JSON and its beginnings are read here, where it is sure what json_repair makes of them.
`strict` is json_repair's option.
"""

from __future__ import annotations

from typing import Any, Final

from .memory import GrowingText, memory
from .originals import attribute_of, original
from .rust import ASK

__all__ = ["loads"]

_original: Final = original("json_repair")
_loads: Final[Any] = getattr(_original, "loads", None)
_small: Final = 256
# White space at the end is looked through up to here.
_WIDTH: Final = 64
# After these in an open string it looks for what may follow the string.
_ODD_ENDS: Final = ",:"
__getattr__ = attribute_of(_original, __name__)


def loads(
    json_str: str,
    skip_json_loads: bool = False,
    logging: bool = False,
    stream_stable: bool = False,
    *,
    share: bool = False,
    **options: Any,
) -> Any:
    """As `json_repair.loads`; `share` as in `jsonrill.compat.jiter`."""
    plain = not (skip_json_loads or logging or options) and type(json_str) is str
    if plain and len(json_str) >= _small:
        reader = memory().read(json_str, float)
        if reader is not None:
            value = _shown(reader, json_str, stream_stable, share)
            if value is not ASK:
                return value
    if _original is None:
        raise ImportError("this text needs a repair by json_repair, which is not installed")
    return _loads(json_str, skip_json_loads, logging, stream_stable, **options)


def _shown(reader: GrowingText, text: str, stable: bool, share: bool) -> Any:
    """What the original shows of a text; `ASK` where only it knows."""
    tree = reader.tree
    if reader.error is not None:
        return ASK
    if tree.done:
        return tree.shown(share)
    end = text[-_WIDTH:].rstrip()[-1:]
    # It has ways of its own with a root that is not a container, too, and with what is empty or
    # might be a bracket too many.
    if tree.odd or reader.odd or tree.inner is None or not end or end == "\\":
        return ASK
    if tree.in_string:
        shown = tree.open_text() if stable else tree.open_text().rstrip()
        odd = end in _ODD_ENDS or any(bracket in shown for bracket in "[]{}")
        return tree.shown(share, shown) if shown and not odd else ASK
    half = reader.half
    number = reader.number(half) if half else ()
    if not tree.inner or (half is not None and not number):
        return ASK
    return tree.shown(share, *(("",) if end == ":" else number))
