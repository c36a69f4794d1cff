"""Typical mistakes, of models and of programs, each with the message that a person reads.

A message that ends with … is longer.
"""

# ruff: noqa: E501  # messages are on one line, as a person reads them

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

import jsonrill


class Trip(BaseModel):
    city: str
    nights: Annotated[int, Field(ge=1, le=30)]
    pace: Literal["slow", "fast"] = "slow"


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    city: str


class Completion(BaseModel):
    """What a client returns for a request that does not stream."""

    object: str = "chat.completion"
    choices: list[Any] = []


def chunk(content: str | None = None, reason: str | None = None, **more: Any) -> Any:
    delta = {"content": content} if content else more
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


def answer(content: str, reason: str | None = "stop") -> list[Any]:
    return [chunk(content), *([] if reason is None else [chunk(reason=reason)])]


def call(arguments: str, reason: str = "tool_calls") -> list[Any]:
    function = {"name": "plan", "arguments": arguments}
    return [
        chunk(tool_calls=[{"index": 0, "id": "1", "function": function}]),
        chunk(reason=reason),
    ]


def read(source: Any, *arguments: Any, **options: Any) -> list[Any]:
    return list(jsonrill.values(source, *arguments, **options))


async def coroutine() -> list[Any]:
    return []


def fed_after_the_end() -> None:
    document = jsonrill.Document()
    document.feed("{}")
    document.flush()
    document.feed("{}")


# Their arguments are wrong, so a type checker must not see them.
rill: Any = jsonrill
# What was done, and what is said of it.
MISTAKES: list[tuple[str, Callable[[], Any], str]] = [
    ("an empty answer", lambda: read([]), "Truncated: the text is empty"),
    ("an empty text", lambda: read(""), "Truncated: the text is empty"),
    (
        "prose instead of JSON",
        lambda: read("I am sorry, but I cannot do that."),
        "InvalidJSON: the answer is text, not JSON: 'I am sorry, but I cannot do that.' (repair=True skips text around JSON)",
    ),
    (
        "prose, with repair",
        lambda: read("I am sorry, but I cannot do that.", repair=True),
        "InvalidJSON: the answer is text, not JSON: 'I am sorry, but I cannot do that.'",
    ),
    (
        "prose before the JSON",
        lambda: read('Sure! Here it is: {"a": 1}'),
        "InvalidJSON: the answer is text, not JSON: 'Sure! Here it is: {\"a\": 1}' (repair=True skips text around JSON)",
    ),
    (
        "a fence",
        lambda: read('```json\n{"a": 1}\n```'),
        "InvalidJSON: the JSON is in a fence: '```json {\"a\": 1} ```' (repair=True reads it)",
    ),
    (
        "a model that thinks aloud",
        lambda: read('<think>Hm.</think>{"a": 1}'),
        "InvalidJSON: the model thinks aloud before the JSON: '<think>Hm.</think>{\"a\": 1}' (repair=True skips it)",
    ),
    (
        "an HTML page with status 200",
        lambda: read("<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"),
        "InvalidJSON: this is an HTML page, not JSON: '<!DOCTYPE html><html><body>502 Bad Gateway</body></html>'",
    ),
    (
        "a file name",
        lambda: read("export.json"),
        "InvalidJSON: 'export.json' is not JSON: if a file is meant, pass open('export.json')",
    ),
    (
        "single quotes",
        lambda: read("{'a': 1}"),
        "InvalidJSON: expected a key or '}' but got \"'\" at character 1, in root",
    ),
    (
        "no quotes",
        lambda: read("{a: 1}"),
        "InvalidJSON: expected a key or '}' but got 'a' at character 1, in root",
    ),
    (
        "trailing comma",
        lambda: read('{"a": 1,}'),
        "InvalidJSON: expected a key but got '}' at character 8, in root",
    ),
    (
        "comment",
        lambda: read('{"a": 1 // one\n}'),
        "InvalidJSON: expected ',' or '}' but got '/' at character 8, in root",
    ),
    (
        "None of Python",
        lambda: read('{"a": None}'),
        "InvalidJSON: expected a value but got 'N' at character 6, in root.a",
    ),
    (
        "True of Python",
        lambda: read('{"a": True}'),
        "InvalidJSON: expected a value but got 'T' at character 6, in root.a",
    ),
    (
        "NaN",
        lambda: read('{"a": NaN}'),
        "InvalidJSON: expected a value but got 'N' at character 6, in root.a",
    ),
    (
        "a missing comma",
        lambda: read('{"a": 1 "b": 2}'),
        "InvalidJSON: expected ',' or '}' but got '\"' at character 8, in root",
    ),
    (
        "one document after another",
        lambda: read('{"a": 1}{"b": 2}'),
        "InvalidJSON: expected the end of the text but got '{' at character 8, in root",
    ),
    (
        "text behind the JSON",
        lambda: read('{"a": 1} I hope this helps.'),
        "InvalidJSON: expected the end of the text but got 'I' at character 9, in root",
    ),
    (
        "a line break in a string",
        lambda: read('{"a": "x\ny"}'),
        "InvalidJSON: expected no control character in a string but got '\\n' at character 8, in root.a",
    ),
    (
        "a wrong escape",
        lambda: read(r'{"a": "\d"}'),
        "InvalidJSON: expected an escape but got 'd' at character 8, in root.a",
    ),
    (
        "a leading zero",
        lambda: read('{"a": 01}'),
        "InvalidJSON: expected ',' or '}' but got '1' at character 7, in root.a",
    ),
    (
        "cut in a string",
        lambda: read('{"a": "x'),
        "Truncated: expected the end of the string but the text ended at character 8, in root.a",
    ),
    (
        "cut in an array",
        lambda: read("[1, 2"),
        "Truncated: expected ',' or ']' but the text ended at character 5, in root[1]",
    ),
    (
        "cut at the token limit",
        lambda: read(answer('{"city": "Ro', reason="length"), Trip),
        "Truncated: the model stopped at its token limit; expected the end of the string but the text ended at character 12, in root.city",
    ),
    (
        "cut at the token limit, with repair",
        lambda: read(answer('{"city": "Ro', reason="length"), Trip, repair=True),
        "Truncated: the model stopped at its token limit; expected the end of the string but the text ended at character 12, in root.city",
    ),
    (
        "a content filter",
        lambda: read(answer('{"city": "Ro', reason="content_filter"), Trip),
        "Truncated: a content filter stopped the answer; expected the end of the string but the text ended at character 12, in root.city",
    ),
    (
        "a refusal",
        lambda: read([chunk(refusal="I cannot help with that."), chunk(reason="stop")], Trip),
        "Truncated: the model refused to answer: I cannot help with that.",
    ),
    (
        "a stream that was lost",
        lambda: read(answer('{"city": "Ro', reason=None), Trip),
        "Truncated: the stream ended before the answer did; expected the end of the string but the text ended at character 12, in root.city",
    ),
    (
        "cut before the first token",
        lambda: read([chunk(reason="length")], Trip),
        "Truncated: the model stopped at its token limit: there is no text",
    ),
    (
        "an error of the provider",
        lambda: read([{"error": {"message": "Overloaded"}}]),
        "SourceFailed: the provider reported an error: Overloaded",
    ),
    (
        "an answer that only calls tools",
        lambda: read(call('{"city": "Rome"}')),
        "UnknownSource: the answer has tool calls (plan) and no text: pass tool='plan' or tool=True for their arguments",
    ),
    (
        "no call of that tool",
        lambda: read(call('{"city": "Rome"}'), tool="book"),
        "UnknownSource: the answer has no call of book, but of plan",
    ),
    (
        "no calls at all",
        lambda: read(answer("{}"), tool=True),
        "UnknownSource: the answer has no tool calls: leave out tool= to read its text",
    ),
    (
        "a call that was cut",
        lambda: read(call('{"city": "Ro', "length"), tool="plan"),
        "Truncated: the model stopped at its token limit; expected the end of the string but the text ended at character 12, in root.city",
    ),
    (
        "events of nobody known",
        lambda: read([{"foo": 1}]),
        "UnknownSource: the only element is not an event of a known provider: dict with foo. A source is text, a provider's strea…",
    ),
    (
        "numbers as a source",
        lambda: read([1, 2]),
        "UnknownSource: none of 2 elements is an event of a known provider; the first is int. A source is text, a provider's stre…",
    ),
    (
        "not a source",
        lambda: read(5),
        "TypeError: a source is text, a provider's stream or its events, an open file, a pipe or an HTTP response, or an iterable of these, not int",
    ),
    (
        "a dict as a source",
        lambda: read({"a": 1}),
        "UnknownSource: the only element is not an event of a known provider: dict with a. A source is text, a provider's stream…",
    ),
    (
        "an await that was forgotten",
        lambda: read(coroutine()),
        "TypeError: this coroutine has not been awaited: pass `await` and the call, as a source",
    ),
    (
        "stream=True that was forgotten",
        lambda: read(Completion(choices=[{"message": {"content": "{}"}}])),
        "TypeError: this Completion is a complete answer, not a stream: ask for it with stream=True, or pass its text",
    ),
    (
        "a field of the wrong type",
        lambda: read('{"city": 5}', Trip),
        "InvalidSchema: Input should be a valid string, not a number (string_type) at character 9, in root.city",
    ),
    (
        "a value that is not listed",
        lambda: read('{"city": "R", "nights": 1, "pace": "leisurely"}', Trip),
        'InvalidSchema: no allowed value begins with "l": allowed are "fast", "slow" (literal_error) at character 35, in root.pace',
    ),
    (
        "a number out of range",
        lambda: read('{"city": "R", "nights": 99}', Trip),
        "InvalidSchema: Input should be less than or equal to 30, not 99 (less_than_equal) at character 24, in root.nights",
    ),
    (
        "a field too few",
        lambda: read('{"city": "R"}', Trip),
        'InvalidSchema: "nights" is missing (missing) at character 0, in root',
    ),
    (
        "a key too many",
        lambda: read('{"town": "R"}', Strict),
        'InvalidSchema: the key "town" is not allowed: allowed is "city" (extra_forbidden) at character 1, in root.town',
    ),
    (
        "a list in place of the object",
        lambda: read('[{"city": "R"}]', Trip),
        "InvalidSchema: Input should be an object, not an array (model_type) at character 0, in root",
    ),
    (
        "an instance in place of the class",
        lambda: read("{}", Trip(city="R", nights=1)),
        "TypeError: the schema is an instance of Trip: pass the class, schema=Trip",
    ),
    (
        "a schema by its name",
        lambda: read("{}", "Trip"),
        "TypeError: a schema is a pydantic type or a JSON Schema as a dict, not str",
    ),
    (
        "a JSON Schema as text",
        lambda: read("{}", '{"type": "object"}'),
        "TypeError: a schema is a pydantic type or a JSON Schema as a dict, not str",
    ),
    (
        "a JSON Schema that is wrong",
        lambda: read("{}", {"type": "strnig"}),
        "ValueError: not a JSON Schema: \"strnig\" is not valid under any of the schemas listed in the 'anyOf' keyword, at type",
    ),
    (
        "an option that is misspelt",
        lambda: read("{}", repiar=True),
        "TypeError: unknown option: repiar; did you mean repair?",
    ),
    (
        "a repair that is misspelt",
        lambda: read("{}", repair=["coma"]),
        "ValueError: no repair rule is named 'coma': did you mean 'commas'?",
    ),
    (
        "limits as a dict",
        lambda: read("{}", limits={"depth": 5}),
        "ValueError: limits is a Limits object such as Limits(depth=64), not {'depth': 5}",
    ),
    (
        "live values of a type",
        lambda: read("{}", Trip, live=True),
        "TypeError: live=True shows plain values: leave out live or schema",
    ),
    (
        "300 levels",
        lambda: read("[" * 300),
        "LimitExceeded: more than 256 (depth) at character 256, in root[0][0][0][0][0][0]…[0][0][0][0][0][0]: pass limits=Limits(depth=...) to allow more",
    ),
    (
        "text: no such field",
        lambda: list(rill.text('{"a": "x"}', "title")),
        "FieldNotFound: the field title never came",
    ),
    (
        "text: no string",
        lambda: list(rill.text('{"title": 5}', "title")),
        "FieldNotFound: the field title is a number, not a string",
    ),
    (
        "text: pattern",
        lambda: list(rill.text("{}", "items[*].title")),
        "ValueError: a path without wildcards is wanted here, not 'items[*].title'",
    ),
    (
        "select: ijson path",
        lambda: list(rill.select("{}", "items.item.id")),
        "ValueError: not a path: 'items.item.id'; for any element write `items[*].id`, for a key `item` `items[\"item\"]`",
    ),
    (
        "select: jq path",
        lambda: list(rill.select("{}", ".items[].id")),
        "ValueError: not a path: '.items[].id'; write `items[*].id`",
    ),
    (
        "select: jsonpath",
        lambda: list(rill.select("{}", "$.items")),
        "ValueError: not a path: '$.items'; leave out `$.`",
    ),
    (
        "select: nothing",
        lambda: list(rill.select('{"rows": []}', "results")),
        "FieldNotFound: the field results never came",
    ),
    (
        "select: schema",
        lambda: list(rill.select('{"rows": [{"city": 5}]}', "rows", Strict)),
        "InvalidSchema: Input should be a valid string, not a number (string_type) at character 10, in root.rows[0].city",
    ),
    (
        "updates: mode",
        lambda: list(rill.updates("{}", "REALTIM")),
        "ValueError: mode is one of BATCH, ALL-TOGETHER, ONE-BY-ONE, PROGRESSIVE, REALTIME, not 'REALTIM'",
    ),
    (
        "updates: schema as mode",
        lambda: list(rill.updates("{}", Trip)),
        "TypeError: the second argument is the mode: pass schema=Trip",
    ),
    (
        "updates: every",
        lambda: list(rill.updates("{}", every=0)),
        "ValueError: every is a number of seconds above 0, not 0",
    ),
    (
        "updates: zero_values",
        lambda: list(rill.updates("{}", zero_values=True)),
        "ValueError: zero_values needs a schema",
    ),
    (
        "fields without fields",
        lambda: list(rill.fields("[]", list[int])),
        "TypeError: the schema has no fields: use values(…) for what is not an object",
    ),
    (
        "chunks of text",
        lambda: list(rill.chunks("abc")),
        "InvalidJSON: the snapshot is not JSON: Expecting value: line 1 column 1 (char 0)",
    ),
    (
        "chunks revised",
        lambda: list(rill.chunks([{"a": "xy"}, {"a": "z"}])),
        "RevisionError: root.a was written as 'xy' and is now 'z'; written text cannot be taken back. To try: on_revision=…",
    ),
    (
        "a choice below 0",
        lambda: read(answer("{}"), choice=-1),
        "ValueError: choice is a whole number from 0 up, not -1",
    ),
    (
        "a choice that has no text",
        lambda: read(answer("{}"), choice=1),
        "UnknownSource: choice 1 has no text, but choice 0 has",
    ),
    (
        "a provider that is misspelt",
        lambda: read(answer("{}"), provider="opnai"),
        "ValueError: provider is not 'opnai': did you mean 'openai_chat'?…",
    ),
    (
        "loads: cut",
        lambda: rill.loads('{"city": "Ro', Trip),
        "Truncated: expected the end of the string but the text ended at character 12, in root.city",
    ),
    (
        "loads: many",
        lambda: rill.loads("{}{}", many=True),
        "TypeError: unknown option: many; there are answer, choice, limits, on_repair, parse_float, prefix, provider, repair, schema, sse, tool",
    ),
    (
        "loads: a dict",
        lambda: rill.loads({"a": 1}),
        "UnknownSource: the only element is not an event of a known provider: dict with a. A source is text…",
    ),
    (
        "partial: wrong",
        lambda: rill.partial('{"a": x'),
        "InvalidJSON: expected a value but got 'x' at character 6, in root.a",
    ),
    (
        "a dict as the Answer",
        lambda: read("{}", answer={}),
        "ValueError: answer is an Answer object, not {}",
    ),
    (
        "zeros without a schema",
        lambda: read("{}", missing="zero"),
        'TypeError: missing="zero" needs a schema',
    ),
    (
        "more text after the end",
        lambda: fed_after_the_end(),
        "StreamClosed: this stream has ended; nothing can be fed to it any more",
    ),
    (
        "sse of text",
        lambda: list(rill.sse("x")),
        "TypeError: sse() takes an iterable of updates, not str",
    ),
    (
        "a fragment that does not fit",
        lambda: rill.Rebuilder().feed([{"path": "root[5]", "kind": "CompleteNull"}]),
        "FragmentError: CompleteNull of root[5] does not fit: root is next",
    ),
]


def test_there_are_enough() -> None:
    assert len({name for name, _, _ in MISTAKES}) == len(MISTAKES) >= 60


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(("name", "mistake", "expected"), MISTAKES, ids=[it[0] for it in MISTAKES])
def test_the_message_of_a_mistake(name: str, mistake: Callable[[], Any], expected: str) -> None:
    with pytest.raises(Exception) as caught:
        mistake()
    message = f"{type(caught.value).__name__}: {caught.value}"
    if expected.endswith("…"):
        assert message.startswith(expected[:-1])
    else:
        assert message == expected
