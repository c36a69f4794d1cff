"""Typical mistakes, of models and of programs, each with the message that a person reads.

In the list, the line below each program is its error; one that ends with … is longer.
"""

# ruff: noqa: E501  # messages are on one line, as a person reads them

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

import jsonrill
from jsonrill import Document


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


async def coroutine() -> list[Any]:
    return []


def closed() -> Document:
    document = Document()
    document.feed("{}")
    document.flush()
    return document


CUT = '{"city": "Ro'
PAGE = "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"
SORRY = "I am sorry, but I cannot do that."
NAMES = {**globals(), **{name: getattr(jsonrill, name) for name in jsonrill.__all__}}
MISTAKES = r"""
values("")
Truncated: the text is empty
values(SORRY)
InvalidJSON: the answer is text, not JSON: 'I am sorry, but I cannot do that.' (repair=True skips text around JSON)
values(SORRY, repair=True)
InvalidJSON: the answer is text, not JSON: 'I am sorry, but I cannot do that.'
values('```json\n{"a": 1}\n```')
InvalidJSON: the JSON is in a fence: '```json {"a": 1} ```' (repair=True reads it)
values('<think>Hm.</think>{"a": 1}')
InvalidJSON: the model writes its reasoning before the JSON: '<think>Hm.</think>{"a": 1}' (repair=True skips it)
values(PAGE)
InvalidJSON: this is an HTML page, not JSON: '<!DOCTYPE html><html><body>502 Bad Gateway</body></html>'
values('data: {"a": 1}\n\n')
InvalidJSON: this is an event stream, which sse=True or --sse reads, not JSON: 'data: {"a": 1}'
values("export.json")
InvalidJSON: 'export.json' is not JSON: if a file is meant, pass open('export.json')
values("{'a': 1}")
InvalidJSON: expected a key or '}' but got "'" at character 1, in root
values('{"a": 1,}')
InvalidJSON: expected a key but got '}' at character 8, in root
values('{"a": NaN}')
InvalidJSON: expected a value but got 'N' at character 6, in root.a
values('{"a": 1}{"b": 2}')
InvalidJSON: expected the end of the text but got '{' at character 8, in root
values('{"a": "x\ny"}')
InvalidJSON: expected no control character in a string but got '\n' at character 8, in root.a
values('{"a": 01}')
InvalidJSON: expected ',' or '}' but got '1' at character 7, in root.a
values("[1, 2")
Truncated: expected ',' or ']' but the text ended at character 5, in root[1]
values(answer(CUT, reason="length"), Trip, repair=True)
Truncated: the model stopped at its token limit; expected the end of the string but the text ended at character 12, in root.city
values(answer(CUT, reason="content_filter"), Trip)
Truncated: a content filter stopped the answer; expected the end of the string but the text ended at character 12, in root.city
values([chunk(refusal="I cannot help with that."), chunk(reason="stop")], Trip)
Truncated: the model refused to answer: I cannot help with that.
values(answer(CUT, reason=None), Trip)
Truncated: the stream ended before the answer did; expected the end of the string but the text ended at character 12, in root.city
values([chunk(reason="length")], Trip)
Truncated: the model stopped at its token limit: there is no text
values([{"error": {"message": "Overloaded"}}])
SourceFailed: the provider reported an error: Overloaded
values(call('{"city": "Rome"}'))
UnknownSource: the answer has tool calls (plan) and no text: pass tool='plan' or tool=True for their arguments
values(call('{"city": "Rome"}'), tool="book")
UnknownSource: the answer has no call of book, but of plan
values(answer("{}"), tool=True)
UnknownSource: the answer has no tool calls: leave out tool= to read its text
values(call(CUT, "length"), tool="plan")
Truncated: the model stopped at its token limit; expected the end of the string but the text ended at character 12, in root.city
values([{"foo": 1}])
UnknownSource: the only element is not an event of a known provider: dict with foo. A source is text, a provider's stream…
values([1, 2])
UnknownSource: none of 2 elements is an event of a known provider; the first is int. A source is text, a provider's stre…
values(5)
TypeError: a source must be text, a provider's stream or its events, an open file, a pipe or an HTTP response, or an iterable of these, not int
values(coroutine())
TypeError: this coroutine was not awaited: pass `await call(...)`, not `call(...)`
values(Completion(choices=[{"message": {"content": "{}"}}]))
TypeError: this Completion is a complete answer, not a stream: ask for it with stream=True, or pass its text
values('{"city": 5}', Trip)
InvalidSchema: Input should be a valid string, not a number (string_type) at character 9, in root.city
values('{"city": "R", "nights": 1, "pace": "leisurely"}', Trip)
InvalidSchema: no allowed value begins with "l": allowed are "fast", "slow" (literal_error) at character 35, in root.pace
values('{"city": "R", "nights": 99}', Trip)
InvalidSchema: Input should be less than or equal to 30, not 99 (less_than_equal) at character 24, in root.nights
values('{"city": "R"}', Trip)
InvalidSchema: "nights" is missing (missing) at character 0, in root
values('{"town": "R"}', Strict)
InvalidSchema: the key "town" is not allowed: allowed is "city" (extra_forbidden) at character 1, in root.town
values('[{"city": "R"}]', Trip)
InvalidSchema: Input should be an object, not an array (model_type) at character 0, in root
values("{}", Trip(city="R", nights=1))
TypeError: a schema must be a pydantic type or a JSON Schema dict, not an instance of Trip
values("{}", "Trip")
TypeError: a schema must be a pydantic type or a JSON Schema dict, not an instance of str
values("{}", {"type": "strnig"})
ValueError: not a JSON Schema: "strnig" is not valid under any of the schemas listed in the 'anyOf' keyword, at type
values("{}", repiar=True)
TypeError: unknown option: repiar; did you mean repair?
values("{}", repair=["coma"])
ValueError: no repair rule is named 'coma': did you mean commas?
values("{}", limits={"depth": 5})
ValueError: limits must be a Limits object such as Limits(depth=64), not {'depth': 5}
select("{}", "a", limits=64)
ValueError: limits must be a Limits object such as Limits(depth=64), not 64
receive([], limits=64)
ValueError: limits must be a Limits object, not 64
values("{}", Trip, live=True)
TypeError: live=True shows plain values: leave out live or schema
values("[" * 300)
LimitExceeded: more than 256 (depth) at character 256, in root[0][0][0][0][0][0]…[0][0][0][0][0][0]: pass limits=Limits(depth=...) to allow more
values(answer("{}"), choice=-1)
ValueError: choice must be a whole number from 0 up, not -1
values(answer("{}"), choice=1)
UnknownSource: choice 1 has no text, but choice 0 has
values(answer("{}"), provider="opnai")
ValueError: provider is not 'opnai': did you mean 'openai_chat'?…
values("{}", answer={})
ValueError: answer must be an Answer object, not {}
values("{}", missing="zero")
TypeError: missing="zero" needs a schema
text('{"title": 5}', "title")
FieldNotFound: the field title is a number, not a string
text("{}", "items[*].title")
ValueError: expected a path without wildcards, not 'items[*].title'
select("{}", "items.item.id")
ValueError: not a path: 'items.item.id'; for any element write `items[*].id`, for a key `item` `items["item"]`
select("{}", ".items[].id")
ValueError: not a path: '.items[].id'; write `items[*].id`
select("{}", "$.items")
ValueError: not a path: '$.items'; leave out `$.`
select('{"rows": []}', "results")
FieldNotFound: the field results never came
select('{"rows": [{"city": 5}]}', "rows", Strict)
InvalidSchema: Input should be a valid string, not a number (string_type) at character 10, in root.rows[0].city
updates("{}", "REALTIM")
ValueError: mode must be one of BATCH, ALL-TOGETHER, ONE-BY-ONE, PROGRESSIVE, REALTIME, not 'REALTIM'
updates("{}", Trip)
TypeError: the second argument is the mode: pass schema=Trip
updates("{}", every=0)
ValueError: every must be a number of seconds above 0, not 0
run_tools([], {}, timeout="5")
ValueError: timeout must be a number of seconds above 0, not '5'
updates("{}", zero_values=True)
ValueError: zero_values needs a schema
fields("[]", list[int])
TypeError: the schema has no fields: use values(…) for anything but an object
chunks("abc")
InvalidJSON: the snapshot is not JSON: Expecting value: line 1 column 1 (char 0)
chunks([{"a": "xy"}, {"a": "z"}])
RevisionError: root.a was written as 'xy' and is now 'z'; written text cannot be taken back. To try: on_revision=…
loads("{}{}", many=True)
TypeError: unknown option: many; there are answer, choice, limits, on_repair, parse_float, prefix, provider, repair, schema, sse, tool
partial('{"a": x')
InvalidJSON: expected a value but got 'x' at character 6, in root.a
closed().feed("{}")
StreamClosed: this stream has ended: it takes no more input
sse("x")
TypeError: sse() takes an iterable of updates, not str
Rebuilder().feed([{"path": "root[5]", "kind": "CompleteNull"}])
FragmentError: CompleteNull of root[5] does not fit: root is next
"""
LINES = MISTAKES.strip().splitlines()


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(("program", "expected"), [*zip(LINES[::2], LINES[1::2], strict=True)])
def test_the_message_of_a_mistake(program: str, expected: str) -> None:
    with pytest.raises(Exception) as caught:
        list(eval(program, NAMES))
    message = f"{type(caught.value).__name__}: {caught.value}"
    assert message == expected or (expected[-1] == "…" and message.startswith(expected[:-1]))
