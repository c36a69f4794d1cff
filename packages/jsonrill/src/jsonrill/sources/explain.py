"""Error messages about a source, and about an answer that does not begin as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ..errors import InvalidJSON, JsonrillError, Truncated
from ..eventstream import looks_like_events

ACCEPTED: Final = (
    "text, a provider's stream or its events, an open file, a pipe or an HTTP response"
)
# How many characters of an answer a message quotes.
_MAX_QUOTE: Final = 60
_SPACE: Final = "\ufeff \t\r\n"
# Compiled on first use: compiling them takes longer than importing the rest of the module.
_PAGE: Final = r"(?i)<(?:!doctype|html|head|body|\?xml)\b"
_TAGS: Final = ("<think", "<reasoning")
_FILE: Final = r"(?i)[^\s{}\[\]\"]{1,200}\.(?:json|jsonl|ndjson|txt|log|sse)"


def describe(element: Any) -> str:
    """Return an element's type and keys, for messages."""
    from ..providers.objects import plain

    kind = type(element)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__}.{name}"
    if isinstance(element, (str, bytes)):
        return f"{name} {element[:60]!r}{'...' if len(element) > 60 else ''}"
    if isinstance(element, (tuple, list)):
        return f"{name} of ({', '.join(describe(item) for item in element[:4])})"
    keys = element if isinstance(element, Mapping) else plain(element)
    if not keys:
        return name
    return f"{name} with {', '.join(str(key) for key in list(keys)[:12])}"


def refuse_complete(source: Any) -> None:
    """Raise `TypeError` for the answer to a request without `stream=True`."""
    from ..providers.objects import plain

    answer = plain(source) or {}
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    is_chat = isinstance(choice, dict) and choice.get("message") and "delta" not in choice
    is_response = answer.get("object") == "response"
    is_message = answer.get("type") == "message" and answer.get("role") == "assistant"
    has_content = isinstance(answer.get("output" if is_response else "content"), list)
    if is_chat or (has_content and (is_message or is_response)):
        raise TypeError(
            f"this {type(source).__qualname__} is a complete answer, not a stream:"
            " ask for it with stream=True, or pass its text"
        )


def quote(text: str) -> str:
    """Return the beginning of a text, in quotes."""
    line = " ".join(text[: 4 * _MAX_QUOTE].split())
    return repr(line if len(line) <= _MAX_QUOTE else line[: _MAX_QUOTE - 1] + "…")


def explain(error: JsonrillError, text: str, options: Mapping[str, Any]) -> JsonrillError:
    """Add the text, the last good value and a helpful message to an error."""
    repair = options.get("repair", False)
    if error.text is None:
        error.text = text
    improved = error
    if isinstance(error, InvalidJSON) and _is_at_beginning(error, error.text):
        improved = _explain_beginning(error, error.text, is_strict=not repair)
    if improved.value is None and error.text:
        end = None if error.offset is None else max(error.offset, 0)
        improved.value = _last_good_value(error.text[:end], repair, options.get("prefix", ""))
    return improved


def _is_at_beginning(error: InvalidJSON, text: str) -> bool:
    """Return whether the error is before the first character of the value."""
    if error.offset is None or error.path:
        return False
    blank = len(text) - len(text.lstrip(_SPACE))
    return error.offset <= blank or (error.expected == "a value" and error.offset >= len(text))


def _explain_beginning(error: InvalidJSON, text: str, is_strict: bool) -> InvalidJSON:
    beginning = text.strip(_SPACE)
    if isinstance(error, Truncated) and error.cut is not None:
        why = str(error.cut)
        if not beginning:
            why += ": there is no text"
        elif error.cut.detail is None:
            why += f": {quote(beginning)}"
        return _with_message(error, why)
    if not beginning:
        is_empty = isinstance(error, Truncated)
        return _with_message(error, "the text is empty") if is_empty else error
    message, hint = _beginning(beginning, is_strict)
    if not message:
        return error
    return _with_message(error, message, hint)


def _beginning(text: str, is_strict: bool) -> tuple[str, str]:
    """Describe a text that is not JSON, and return a hint; both are empty for an unknown text."""
    quoted = quote(text)
    if re.match(_PAGE, text):
        return f"this is an HTML page, not JSON: {quoted}", ""
    if looks_like_events(text[:20].encode("utf-8", "replace")):
        return f"this is an event stream, which sse=True or --sse reads, not JSON: {quoted}", ""
    if is_strict and re.fullmatch(_FILE, text):
        return f"{quoted} is not JSON", f": if a file is meant, pass open({text!r})"
    if is_strict and text.startswith("```"):
        return f"the JSON is in a fence: {quoted}", " (repair=True reads it)"
    if is_strict and text.lower().startswith(_TAGS):
        return (
            f"the model writes its reasoning before the JSON: {quoted}",
            " (repair=True skips it)",
        )
    if text[0].isalpha() or text[0] in "#*>_":
        hint = " (repair=True skips text around JSON)" if is_strict else ""
        return f"the answer is text, not JSON: {quoted}", hint
    return "", ""


def _with_message(error: InvalidJSON, message: str, hint: str = "") -> InvalidJSON:
    error.args, error.problem = (message + hint,), message
    return error


def _last_good_value(text: str, repair: Any, prefix: str) -> Any:
    from ..document import Document

    document = Document(repair=repair, prefix=prefix)
    try:
        document.feed(text)
    except JsonrillError:
        pass
    return document.value
