"""The request for the rest of an answer, in the form of each provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..jsontext import dumps

if TYPE_CHECKING:
    from .so_far import SoFar

Message = dict[str, Any]
# As much of the end is quoted.
_LAST: Final = 200


def messages_for(
    provider: str, prompt: str | list[Any], so_far: SoFar, prefill: bool
) -> tuple[list[Any], str | None]:
    """The messages, and the white space that was left out at the end of a text to go on with.

    None if the text is not given to the model to go on with.
    """
    form = _FORMS.get(_NAMES.get(provider, provider))
    if form is None:
        known = ", ".join([*_FORMS, *_NAMES])
        raise ValueError(f"no request is known for {provider!r}; name one of {known}")
    asked = [form.message("user", prompt)] if isinstance(prompt, str) else [*prompt]
    text, calls, tool = so_far.text, so_far.calls, so_far.tool
    if not text.strip() and not calls and tool is None:
        return asked, None
    may_prefill = tool is None and not calls and so_far.feedback is None
    if prefill and form.prefill is not None and may_prefill:
        # Anthropic refuses a text that ends with white space.
        kept = text.rstrip() if form.strips else text
        return [*asked, form.prefill(kept)], text[len(kept) :]
    broken = [form.message("assistant", text)] if tool is None and text.strip() else []
    return [*asked, *broken, form.message("user", _asking(so_far))], None


def _asking(so_far: SoFar) -> str:
    """What to tell the model, in plain words."""
    lines: list[str] = []
    is_unclear = so_far.reason == "unclear"
    wants_missing = is_unclear or so_far.reason == "violation"
    missing = so_far.missing_schema() if wants_missing else None
    if so_far.feedback is not None:
        lines.append(so_far.feedback.rpartition("\n")[0])
    if so_far.calls:
        listed = "\n".join([f"{name}({dumps(args)})" for _, name, args in so_far.calls])
        lines.append(f"These calls have been made already; do not make them again:\n{listed}")
    if so_far.tool is not None:
        lines.append(
            f"Your call of {so_far.tool} broke off after these arguments:\n{so_far.text}\n"
            f"Make this one call again, with all of its arguments, and keep what is there."
        )
    elif missing is not None and "properties" in missing:
        lines.append(
            "Your answer broke off. Answer with one JSON object that has only the fields that are"
            f" missing, by this schema, and nothing else:\n{dumps(missing)}"
        )
    elif is_unclear and so_far.text.strip():
        lines.append(
            "Your answer broke off, and it is not clear how the rest joins it. Write all of it"
            " again, from its beginning, keep what is there as it is, and write nothing else."
        )
    elif so_far.text.strip():
        last = so_far.text[-_LAST:]
        lines.append(
            "Your answer broke off. Continue it exactly where it ends: begin with the next"
            " character, do not repeat anything, and write nothing else. Its last words are:\n"
            f"{last}"
        )
    else:
        lines.append("Your answer broke off. Go on.")
    return "\n".join(lines)


class _Form(NamedTuple):
    """How a provider takes a message, and a text to go on with; None if it takes none."""

    message: Callable[[str, Any], Message]
    prefill: Callable[[str], Message] | None = None
    strips: bool = False


def _plain(role: str, text: Any) -> Message:
    return {"role": role, "content": text}


def _gemini(role: str, text: Any) -> Message:
    return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}


def _bedrock(role: str, text: Any) -> Message:
    return {"role": role, "content": [{"text": text}]}


_FORMS: Final[dict[str, _Form]] = {
    "openai_chat": _Form(_plain),
    "openai_responses": _Form(_plain),
    "anthropic": _Form(_plain, lambda text: _plain("assistant", text), strips=True),
    "gemini": _Form(_gemini),
    "mistral": _Form(_plain, lambda text: {**_plain("assistant", text), "prefix": True}),
    "ollama": _Form(_plain, lambda text: _plain("assistant", text)),
    "bedrock": _Form(_bedrock, lambda text: _bedrock("assistant", text), strips=True),
}
_NAMES: Final = {"openai": "openai_chat", "chat": "openai_chat", "responses": "openai_responses"}
