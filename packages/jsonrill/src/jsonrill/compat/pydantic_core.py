"""`from jsonrill.compat import pydantic_core`: its `from_json`, with a memory for growing texts.

All other names are those of pydantic_core. Small texts, and what is not valid JSON so far, go to
it if it is installed. Without it, what is not JSON is a `ValueError` with jsonrill's message, and
NaN and Infinity are not read.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from .originals import attribute_of, original
from .rust import ASK, SMALL, read

__all__ = ["from_json"]

_original: Final = original("pydantic_core")
_from_json: Final[Any] = getattr(_original, "from_json", None)
_small: Final = 0 if _original is None else SMALL
__getattr__ = attribute_of(_original, __name__)


# The other options of pydantic_core that are known here.
_REMEMBERED: Final = {"allow_inf_nan", "cache_strings"}


def from_json(
    data: str | bytes | bytearray,
    *,
    allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
    strict: bool = False,
    share: bool = False,
    **options: Any,
) -> Any:
    """As `pydantic_core.from_json`; `strict` and `share` as in `jsonrill.compat.jiter`."""
    if not options and not strict and len(data) < _small:
        if allow_partial is False:
            return _from_json(data)
        return _from_json(data, allow_partial=allow_partial)
    large = strict or len(data) >= _small
    if large and type(data) in (str, bytes) and options.keys() <= _REMEMBERED:
        value = read(data, allow_partial, float, share, strict, _original is not None)
        if value is not ASK:
            return value
    if _original is None:
        raise TypeError("Expected bytes or str")
    return _from_json(data, allow_partial=allow_partial, **options)
