"""The simulated models behind the APIs of providers: a request in, an answer out.

A model of the demo, asked by its name, says what it always says. Any other name is a model that
does what is asked: it calls tools, writes JSON by a schema, or says something. The same request
gets the same answer, but for its id.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import replace
from typing import Any, Final

from jsonrill.demo.recordings import recorded
from jsonrill.jsontext import dumps
from jsonrill.sources.answer import AnswerText
from jsonrill.testing import Call, FakeAnswer, Script, tokens
from jsonrill.toolcalls import ToolCalls

from .examples import NoExample, example
from .models import Model, models
from .requests import Asked, InvalidRequest, read

# Seconds for each token of a model that has no pace of its own.
PACE: Final = 0.01
# A model that calls one tool for each name in the prompt calls it at most so often.
MOST_CALLS: Final = 4
# Recorded JSON that a prompt may name.
_TOPICS: Final = ("trip", "voyage", "booking", "recipe")


def reply(target: str, body: Any, agent: str = "") -> Script:
    """The response to a request with this target and JSON body."""
    try:
        asked = read(target.partition("?")[0], body)
        reply = FakeAnswer() if asked is None else answer(asked)
    except InvalidRequest as bad:
        reply = FakeAnswer(status=400, message=bad.message, param=bad.param)
    except RecursionError:
        reply = FakeAnswer(status=400, message="the request is nested too deeply")
    # Where there is no such path, the script says so.
    return replace(reply, id=secrets.token_hex(12)).script(target, body)


def answer(asked: Asked) -> FakeAnswer:
    """What the model answers; InvalidRequest if a schema is one that nothing can meet."""
    if (model := models().get(asked.model)) is not None:
        reply = _recorded_answer(model)
    else:
        reply = FakeAnswer(**_said(asked), pace=PACE)
    count = sum(len(tokens(text)) for text in (reply.reasoning, reply.text, *_texts(reply)))
    if asked.limit is not None and asked.limit < count:
        return replace(reply, ending="length", after=asked.limit)
    return reply


def _texts(answer: FakeAnswer) -> list[str]:
    return [call.text for call in answer.calls]


def _recorded_answer(model: Model) -> FakeAnswer:
    """What a model of the demo always says: a text, the last snapshot, or what its events say."""
    says, pace = model.says(), 1 / model.pace
    if model.input == "text":
        return FakeAnswer(says, pace=pace)
    lines = says.splitlines()
    if model.input == "snapshots":
        return FakeAnswer(lines[-1], pace=pace)
    text, calls = AnswerText("auto"), ToolCalls()
    written = "".join([text.feed(line) for line in lines])
    for line in lines:
        calls.feed(json.loads(line))
    made_calls = [Call(call.name or "", call.raw, call.id or "") for call in calls.calls]
    return FakeAnswer(written, calls=made_calls, pace=pace)


def _said(asked: Asked) -> dict[str, Any]:
    """The text, reasoning and calls of an answer to any other model's name."""
    names = _names(asked.prompt)
    fields: dict[str, Any] = {}
    if asked.reasons:
        fields["reasoning"] = "They ask, so I answer: shortly, and the same each time."
    chosen = _chosen(asked)
    if chosen:
        number = len(asked.called)
        calls = [call for name in chosen for call in _calls(asked, name, names)]
        calls = calls if asked.parallel else calls[:1]
        fields["calls"] = [
            Call(name, arguments, f"call_{number + at}")
            for at, (name, arguments) in enumerate(calls, 1)
        ]
    elif asked.schema is not None:
        fields["text"] = dumps(_example(asked.schema, names, "the schema of the answer"))
    elif asked.wants_json or re.search(r"\bJSON\b", asked.prompt):
        topic = next((it for it in _TOPICS if it in asked.prompt.lower()), "recipe")
        fields["text"] = recorded(f"{topic}.txt")
    else:
        fields["text"] = _small_talk(asked)
    return fields


def _small_talk(asked: Asked) -> str:
    if asked.results:
        results = "; ".join(f"{name} says {text}" for name, text in asked.results)
        return f"I have asked the tools. {results}."
    prompt = asked.prompt.strip()
    quoted = f"You said: {prompt[:200]}. " if prompt else ""
    return f"{quoted}I am a simulated model. Give me a schema, and I write JSON; or tools to call."


def _chosen(asked: Asked) -> list[str]:
    """The tools to call: those that the prompt mentions, or the first; each once."""
    if asked.choice == "none" or not asked.tools:
        return []
    if asked.only is not None:
        return [asked.only]
    if asked.results and asked.choice == "auto":
        return []
    prompt = asked.prompt.lower()
    mentioned = [name for name in asked.tools if _is_mentioned(name, prompt)]
    new = [name for name in mentioned or asked.tools if name not in asked.called]
    if asked.choice == "required":
        new = new or [name for name in asked.tools if name not in asked.called]
        new = new or [*asked.tools][-1:]
    return new if mentioned and new[0] in mentioned else new[:1]


def _is_mentioned(tool: str, prompt: str) -> bool:
    """True if the prompt has the tool's name, or a word of it that says what it is about."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower())
    about = [word for word in words if len(word) > 3]
    return tool.lower() in prompt or any(re.search(rf"\b{word}", prompt) for word in about)


def _calls(asked: Asked, tool: str, names: list[str]) -> list[tuple[str, Any]]:
    """The calls of one tool: one for each name in the prompt for which they differ."""
    calls: list[tuple[str, Any]] = []
    for at in range(min(len(names), MOST_CALLS) or 1):
        # A tool that says nothing of its arguments is asked about the place.
        usual = {"properties": {"city": {"type": "string"}}} if names else {}
        schema = {"type": "object", **usual, **asked.tools[tool]}
        arguments = _example(schema, names[at:] + names[:at], f"the schema of {tool}")
        if (tool, arguments) not in calls:
            calls.append((tool, arguments))
    return calls


def _example(schema: Any, names: list[str], what: str) -> Any:
    try:
        return example(schema, names)
    except NoExample as error:
        raise InvalidRequest(
            f"the simulated model cannot meet {what}: {error}", "schema"
        ) from error


def _names(prompt: str) -> list[str]:
    """The names in a prompt: words that begin with a capital inside a sentence."""
    names = re.findall(r"(?<=[\w,;:] )[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)*", prompt)
    return [*dict.fromkeys(name for name in names if not name.isupper())]
