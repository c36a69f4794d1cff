"""`from jsonrill.compat import pydantic_core`: its `from_json`, with a memory for growing texts.

All other names are those of pydantic_core. Small texts, and what is not valid JSON so far, go to
it if it is installed. Without it, what is not JSON is a `ValueError` with jsonrill's message, and
NaN and Infinity are not read.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypedDict, Unpack

from .originals import attribute_of, original
from .rust import ASK, MODES, SMALL, read

__all__ = ["from_json"]

_original: Final = original("pydantic_core")
_from_json: Final[Any] = getattr(_original, "from_json", None)
_small: Final = 0 if _original is None else SMALL
__getattr__ = attribute_of(_original, __name__)


class Options(TypedDict, total=False):
    """Options of pydantic_core that are rarely passed."""

    allow_inf_nan: bool
    cache_strings: bool | Literal["all", "keys", "none"]


def from_json(
    data: str | bytes | bytearray,
    *,
    allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
    strict: bool = False,
    share: bool = False,
    **options: Unpack[Options],
) -> Any:
    """As `pydantic_core.from_json`; `strict` and `share` as in `jsonrill.compat.jiter`."""
    if not options and not strict and len(data) < _small:
        if allow_partial is False:
            return _from_json(data)
        return _from_json(data, allow_partial=allow_partial)
    value = ASK
    if isinstance(data, (str, bytes)) and (strict or len(data) >= _small):
        mode = MODES.get(allow_partial)
        if mode is not None and options.keys() <= Options.__annotations__.keys():
            value = read(data, mode, float, share, strict, _original is not None)
    if value is not ASK:
        return value
    if _original is None:
        raise TypeError("Expected bytes or str")
    return _from_json(data, allow_partial=allow_partial, **options)
