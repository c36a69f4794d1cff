"""`from jsonrill.compat import jiter`: jiter's `from_json`, with a memory for growing texts.

Small texts, and what is not valid JSON so far, go to jiter if it is installed. Without it, what is
not JSON is a `ValueError` with jsonrill's message, and NaN and Infinity are not read.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, Literal

from .originals import attribute_of, original
from .rust import ASK, SMALL, read

__all__ = ["from_json"]

_original: Final = original("jiter")
_from_json: Final[Any] = getattr(_original, "from_json", None)
_small: Final = 0 if _original is None else SMALL
__getattr__ = attribute_of(_original, __name__)


def _lossless(text: str) -> Any:
    return _original.LosslessFloat(text.encode())


_FLOATS: Final[dict[Any, Any]] = {
    "float": float,
    "decimal": Decimal,
    "lossless-float": None if _original is None else _lossless,
}


# The other options of jiter that are known here: duplicate keys are caught by jiter alone.
_REMEMBERED: Final = {"allow_inf_nan", "cache_mode", "float_mode"}


def from_json(
    json_data: bytes,
    /,
    *,
    partial_mode: Literal[True, False, "off", "on", "trailing-strings"] = False,
    strict: bool = False,
    share: bool = False,
    **options: Any,
) -> Any:
    """As `jiter.from_json`.

    `strict` hides a number that may go on, and refuses all that is not JSON. With `share` a value
    has its complete parts in common with earlier values of the same text.
    """
    # Most texts are small, and jiter reads one in less than a microsecond: hence the haste.
    is_small = len(json_data) < _small and not strict
    if is_small and not options:
        if partial_mode is False:
            return _from_json(json_data)
        return _from_json(json_data, partial_mode=partial_mode)
    if not is_small and type(json_data) is bytes:
        parse_float = float if not options else _parse_float(options)
        value = read(json_data, partial_mode, parse_float, share, strict, _original is not None)
        if value is not ASK:
            return value
    if _original is None:
        return _refused(json_data)
    return _from_json(json_data, partial_mode=partial_mode, **options)


def _parse_float(options: dict[str, Any]) -> Any:
    """What makes numbers with these options; None if jiter must be asked."""
    known = options.keys() <= _REMEMBERED
    return _FLOATS.get(options.get("float_mode", "float")) if known else None


def _refused(data: Any) -> Any:
    if type(data) is not bytes:
        kind = type(data).__name__
        raise TypeError(f"argument 'json_data': {kind!r} object is not an instance of 'bytes'")
    raise ValueError("an option that needs jiter itself, which is not installed")
