"""`install`: the clients of others read growing texts with jsonrill, and do not notice."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, cast

import anthropic.lib.streaming._messages as anthropic_messages
import anthropic.lib.streaming._types as anthropic_types
import instructor.v2.dsl.partial as instructor_partial
import jiter
import langchain_core.output_parsers.json as langchain_parsers
import langchain_core.utils.json as langchain_json
import openai.lib.streaming.chat._completions as openai_completions
import pytest
from anthropic.lib.streaming import TextEvent
from anthropic.types import RawMessageStreamEvent
from langchain_core.output_parsers import JsonOutputParser
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel, TypeAdapter

from jsonrill import compat
from jsonrill.compat import patching
from jsonrill.compat.jiter import from_json as drop_in
from support import few

# Long enough that most of its beginnings are read by the drop-in.
ARGUMENTS = json.dumps(
    {
        "path": "notes.md",
        "rows": [{"id": n, "ok": n % 2 == 0, "note": f"line {n}\n"} for n in range(150)],
        "text": "prose that goes on, and on – " * 60,
    },
    ensure_ascii=False,
)
STEP = 37


@pytest.fixture(autouse=True)
def nothing_stays_installed() -> Iterator[None]:
    yield
    compat.uninstall()
    assert compat.installed() == ()


def chunk(index: int, **function: str) -> ChatCompletionChunk:
    opened = {"id": "call_1", "type": "function"} if "name" in function else {}
    call = {"index": index, "function": {"arguments": "", **function}, **opened}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
    return ChatCompletionChunk.model_validate(
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }
    )


def as_it_is(value: Any) -> Any:
    """A copy, because the next piece may change the value."""
    return json.loads(json.dumps(value))


def openai_arguments() -> list[Any]:
    """What openai's helper shows of a tool call after each piece."""
    function: Any = {"name": "write", "strict": True, "parameters": {}}
    state = ChatCompletionStreamState(input_tools=[{"type": "function", "function": function}])
    shown = []
    for piece in ({"name": "write"}, *({"arguments": part} for part in pieces())):
        list(state.handle_chunk(chunk(0, **piece)))
        calls = state.current_completion_snapshot.choices[0].message.tool_calls
        assert calls
        shown.append(as_it_is(calls[0].function.parsed_arguments))
    return shown


def anthropic_snapshots() -> list[Any]:
    """What anthropic's helper shows of an answer after each piece."""
    return [
        TextEvent(type="text", text="", snapshot=ARGUMENTS[:end]).parsed_snapshot()
        for end in range(STEP, len(ARGUMENTS), STEP)
    ]


class Row(BaseModel):
    id: int
    ok: bool
    note: str


class Notes(BaseModel):
    path: str
    rows: list[Row]
    text: str


def instructor_models() -> list[Any]:
    partial = instructor_partial.Partial[Notes]
    chunks = instructor_partial.PartialBase.model_from_chunks.__func__  # type: ignore[attr-defined]
    return [model.model_dump() for model in chunks(partial, pieces())]


def langchain_values() -> list[Any]:
    return list(JsonOutputParser().transform(iter(pieces()), None))


def pieces() -> list[str]:
    return [ARGUMENTS[at : at + STEP] for at in range(0, len(ARGUMENTS), STEP)]


@few(3)
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize(
    "package, program",
    [
        ("jiter", openai_arguments),
        ("jiter", anthropic_snapshots),
        ("jiter", instructor_models),
        ("langchain", langchain_values),
    ],
)
def test_the_clients_of_others_show_the_same(
    package: str, program: Callable[[], list[Any]], share: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = program()
    monkeypatch.setattr("jsonrill.compat.rust.RATIO", 0)  # however much comes at a time
    compat.install(package, share=share)
    calls = []
    read = patching.import_module("jsonrill.compat.memory").Memory.read

    def counted(memory: Any, text: Any, *arguments: Any) -> Any:
        calls.append(read(memory, text, *arguments))
        return calls[-1]

    monkeypatch.setattr("jsonrill.compat.memory.Memory.read", counted)
    assert program() == expected
    assert sum(reader is not None for reader in calls) > 100, "the drop-in has hardly been used"


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("a value that may be shared was changed")


WRITES: tuple[str, ...] = (
    *("__setitem__", "__delitem__", "__ior__", "__iadd__", "__imul__", "append", "clear"),
    *("extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update"),
)
FrozenDict = type("FrozenDict", (dict,), {name: refuse for name in WRITES if hasattr(dict, name)})
FrozenList = type("FrozenList", (list,), {name: refuse for name in WRITES if hasattr(list, name)})


def frozen(value: Any) -> Any:
    """The same value, which cannot be changed."""
    if isinstance(value, dict):
        return FrozenDict({key: frozen(item) for key, item in value.items()})
    return FrozenList(map(frozen, value)) if isinstance(value, list) else value


def anthropic_message() -> list[Any]:
    """The input of a tool call in the message of anthropic's helper, after each piece."""
    start = {"type": "tool_use", "id": "t", "name": "write", "input": {}}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    events = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": start},
    ]
    for piece in pieces():
        delta = {"type": "input_json_delta", "partial_json": piece}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    snapshot, shown = None, []
    buffers: dict[int, bytes] = {}
    for event in TypeAdapter(list[RawMessageStreamEvent]).validate_python(events):
        snapshot = anthropic_messages.accumulate_event(
            event=event, current_snapshot=snapshot, json_bufs=buffers
        )
        shown.append(as_it_is(cast(Any, snapshot.content[0]).input) if snapshot.content else None)
    return shown


@few(2)
@pytest.mark.parametrize(
    "package, program",
    [
        ("jiter", openai_arguments),
        ("jiter", anthropic_snapshots),
        ("jiter", anthropic_message),
        ("jiter", instructor_models),
        ("langchain", langchain_values),
    ],
)
def test_the_clients_of_others_do_not_change_a_value_that_may_be_shared(
    package: str, program: Callable[[], list[Any]]
) -> None:
    expected = program()
    known = patching.KNOWN[package]
    module = patching.import_module(known.module)
    pairs = []
    for name in known.functions:
        original = getattr(module, name)
        pairs.append((original, lambda *args, _f=original, **options: frozen(_f(*args, **options))))
    for original, replacement in pairs:
        patching._rebind(original, replacement)
    try:
        assert program() == expected
    finally:
        for original, replacement in pairs:
            patching._rebind(replacement, original)


def test_names_that_were_imported_before_are_bound_again() -> None:
    module = ModuleType("imported_before")
    module.parse = module.again = jiter.from_json  # type: ignore[attr-defined]
    sys.modules["imported_before"] = module
    try:
        original = vars(module)["parse"]
        compat.install("jiter")
        replacement = vars(jiter)["from_json"]
        assert vars(module)["parse"] is vars(module)["again"] is replacement is not original
        assert vars(openai_completions)["from_json"] is replacement
        assert vars(instructor_partial)["from_json"] is replacement
        assert anthropic_types.jiter.from_json is replacement
        # What a program imports from jsonrill itself stays.
        assert replacement is not drop_in
        # Imported while it is installed.
        module.late = replacement  # type: ignore[attr-defined]
        compat.uninstall("jiter")
        assert drop_in is not original
        names = (vars(module)[name] for name in ("parse", "again", "late"))
        assert all(name is original for name in names)
        assert vars(jiter)["from_json"] is original
        assert vars(openai_completions)["from_json"] is original
    finally:
        del sys.modules["imported_before"]


def test_langchain_parses_with_its_own_default_too() -> None:
    before = dict(vars(langchain_json))
    compat.install("langchain")
    assert vars(langchain_parsers)["parse_json_markdown"] is not before["parse_json_markdown"]
    assert vars(langchain_parsers)["parse_partial_json"] is not before["parse_partial_json"]
    fenced = f"```json\n{ARGUMENTS}"
    assert langchain_parsers.parse_json_markdown(fenced[:5000])["path"] == "notes.md"
    compat.uninstall("langchain")
    assert dict(vars(langchain_json)) == before


def test_installing_again_changes_what_is_shared() -> None:
    compat.install("jiter")
    compat.install("jiter", share=True)
    assert compat.installed() == ("jiter",)
    compat.uninstall("jiter")
    compat.uninstall("jiter", "langchain")
    assert type(vars(jiter)["from_json"]).__name__ == "builtin_function_or_method"


def test_what_is_not_known_is_refused_and_nothing_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = vars(jiter)["from_json"]
    with pytest.raises(ValueError, match="'orjson' cannot be installed; known are jiter, "):
        compat.install("jiter", "orjson")
    monkeypatch.setattr(patching, "version", lambda name: "99.1.2rc1")
    with pytest.raises(RuntimeError, match=r"jiter 99\.1\.2rc1 is not known to jsonrill "):
        compat.install("jiter")
    monkeypatch.setitem(sys.modules, "json_repair", None)
    with pytest.raises(ImportError):
        compat.install("json_repair")
    assert vars(jiter)["from_json"] is original
    assert compat.installed() == ()
