"""`from jsonrill.compat import langchain`: LangChain's `parse_partial_json`, with a memory.

All other names are those of `langchain_core.utils.json`. `strict` is LangChain's option: whether
control characters in strings are refused. What is not valid JSON so far goes to the original;
without it, it is a `JSONDecodeError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from .memory import GrowingText, cut_escape, memory
from .originals import attribute_of, original
from .partial_json_parser import half_pair
from .rust import ASK

__all__ = ["parse_json_markdown", "parse_partial_json"]

_original: Final = original("langchain_core.utils.json")
_parse_partial_json: Final[Any] = getattr(_original, "parse_partial_json", None)
_parse_json_markdown: Final[Any] = getattr(_original, "parse_json_markdown", None)
_small: Final = 0 if _original is None else 256
# Prose before a bracket, which the original takes away with all the rest, in vain.
_PROSE: Final = re.compile(r"\s*[^\s{}\[\]\"\\\-0-9tfnNI][^{}\[\]\"\\]*(?=[{\[])")
__getattr__ = attribute_of(_original, __name__)


def parse_partial_json(s: str, *, strict: bool = False, share: bool = False) -> Any:
    """As LangChain's; `share` as in `jsonrill.compat.jiter`."""
    if type(s) is str and len(s) >= _small:
        prose = _PROSE.match(s)
        at = 0 if prose is None else prose.end()
        reader = memory().read(s[at:] if at else s, float, _original is None)
        if reader is not None:
            if at and reader.error is None:
                return json.loads(s)  # raises: what comes before cannot be JSON
            value = ASK if at else _shown(reader, s, share)
            if value is not ASK:
                return value
    if _original is None:
        return json.loads(s, strict=strict)
    return _parse_partial_json(s, strict=strict)


def parse_json_markdown(
    json_string: str,
    *,
    parser: Callable[[str], Any] | None = None,
    share: bool = False,
) -> Any:
    """As LangChain's, which must be installed: JSON that may be in a Markdown fence."""
    if _original is None:
        raise ImportError("parse_json_markdown needs langchain-core, which is not installed")

    return _parse_json_markdown(
        json_string, parser=parser or partial(parse_partial_json, share=share)
    )


def _shown(reader: GrowingText, text: str, share: bool) -> Any:
    """What the original shows of a text; `ASK` where only it knows."""
    tree = reader.tree
    if reader.error is not None:
        return ASK
    if tree.done:
        return tree.shown(share)
    pending = _pending(reader, text)
    if tree.inner is None and not pending:
        return ASK
    return tree.shown(share, *pending)


def _pending(reader: GrowingText, text: str) -> tuple[Any, ...]:
    """The value that is being read, in a tuple, if it is shown."""
    tree = reader.tree
    if not tree.in_string:
        half = reader.half
        return reader.number(half.rstrip(".-+eE")) if half else ()
    held = cut_escape(text)
    # Half a code (\u00) hides the string, a backslash alone does not.
    if held.rfind("\\") in (-1, len(held) - 1) or len(held) == 6:
        return (tree.open_text() + half_pair(text),)
    return ()
