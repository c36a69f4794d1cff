"""The request for the rest of an answer, in the form of each provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..jsontext import dumps

Message = dict[str, Any]
# As much of the end is quoted.
_LAST: Final = 200


class RestRequest(NamedTuple):
    """What a request for the rest has to say."""

    text: str
    # The tool whose call broke off, and the calls that are complete.
    tool: str | None
    calls: list[tuple[str, Any]]
    # What was wrong with the answer, if it broke its schema.
    feedback: str | None
    # The schema of what is missing, if that is to be asked for.
    missing: Any
    # True if the last words were not enough to know how the rest joins.
    again: bool = False


def messages_for(
    provider: str, prompt: str | list[Any], request: RestRequest, prefill: bool
) -> tuple[list[Any], str | None]:
    """The messages, and the white space that was left out at the end of a text to go on with.

    None if the text is not given to the model to go on with.
    """
    form = _FORMS.get(_NAMES.get(provider, provider))
    if form is None:
        known = ", ".join([*_FORMS, *_NAMES])
        raise ValueError(f"no request is known for {provider!r}; name one of {known}")
    asked = [form.said("user", prompt)] if isinstance(prompt, str) else [*prompt]
    text = request.text
    if not text.strip() and not request.calls and request.tool is None:
        return asked, None
    may_prefill = request.tool is None and not request.calls and request.feedback is None
    if prefill and form.prefill is not None and may_prefill:
        # Anthropic refuses a text that ends with white space.
        kept = text.rstrip() if form.strips else text
        return [*asked, form.prefill(kept)], text[len(kept) :]
    broken = [form.said("assistant", text)] if request.tool is None and text.strip() else []
    return [*asked, *broken, form.said("user", _asking(request))], None


def _asking(request: RestRequest) -> str:
    """What to tell the model, in plain words."""
    said: list[str] = []
    if request.feedback is not None:
        said.append(request.feedback.rpartition("\n")[0])
    if request.calls:
        listed = "\n".join([f"{name}({dumps(args)})" for name, args in request.calls])
        said.append(f"These calls have been made already; do not make them again:\n{listed}")
    if request.tool is not None:
        said.append(
            f"Your call of {request.tool} broke off after these arguments:\n{request.text}\n"
            f"Make this one call again, with all of its arguments, and keep what is there."
        )
    elif request.missing is not None:
        said.append(
            "Your answer broke off. Answer with one JSON object that has only the fields that are"
            f" missing, by this schema, and nothing else:\n{dumps(request.missing)}"
        )
    elif request.again and request.text.strip():
        said.append(
            "Your answer broke off, and it is not clear how the rest joins it. Write all of it"
            " again, from its beginning, keep what is there as it is, and write nothing else."
        )
    elif request.text.strip():
        last = request.text[-_LAST:]
        said.append(
            "Your answer broke off. Continue it exactly where it ends: begin with the next"
            " character, do not repeat anything, and write nothing else. Its last words are:\n"
            f"{last}"
        )
    else:
        said.append("Your answer broke off. Go on.")
    return "\n".join(said)


class _Form(NamedTuple):
    """How a provider takes a message, and a text to go on with; None if it takes none."""

    said: Callable[[str, Any], Message]
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
