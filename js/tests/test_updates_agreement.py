"""Updates in JavaScript and in Python are the same: in every mode, of any text, in any cutting."""

from __future__ import annotations

import base64
import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Limits, PartialStream, Update, apply_delta
from jsonrill.options import TABLE, is_used
from jsonrill.paths import format_path, from_pointer, lookup
from support import pieces
from support.documents import spoiled, texts
from support.javascript import Ask, agree, examples, in_js_order, spelled_message
from support.near_json import broken, sloppy
from support.streams import MODES

NAMES = {
    "partial_numbers": "partialNumbers",
    "early_literals": "earlyLiterals",
    "zero_values": "zeroValues",
    "only_complete": "onlyComplete",
}
ENTITIES: list[Any] = [
    *(None, "a", "items", "root", "a[*].b", "*", "[*]", "a.*", "[*][*]"),
    *(["a", "b"], {"one": "a[*]", "two": "b"}, {"x": "a", "y": "b.*"}, ["a.b", "a.c"]),
]


def keyed(name: str, value: Any) -> dict[str, Any]:
    return {name: value}


def named(entity: Any) -> list[str]:
    if isinstance(entity, dict):
        return list(entity)
    return ["a", "b"] if entity == ["a", "b"] else []


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    entity = draw(st.sampled_from(ENTITIES))
    modes = st.sampled_from(MODES)
    names = named(entity)
    by_name = st.dictionaries(st.sampled_from(names), modes) if names else modes
    chosen = {"mode": draw(st.one_of(modes, by_name)), "entity": entity}
    used = set(chosen["mode"].values()) if isinstance(chosen["mode"], dict) else {chosen["mode"]}
    if isinstance(chosen["mode"], dict) and len(chosen["mode"]) < len(names):
        used.add("REALTIME")
    of_modes = {
        "partial_numbers": st.booleans(),
        "early_literals": st.booleans(),
        "only_complete": st.lists(st.sampled_from(["a", "b", "*", "[*]", "a.b", "[*].a", "root"])),
    }
    flags = {
        **{name: flag for name, flag in of_modes.items() if is_used(TABLE[name], used)},
        "send": st.sampled_from(["data", "delta", "both"]),
        "many": st.booleans(),
        "duplicates": st.sampled_from(["last", "error"]),
        "repair": st.booleans(),
    }
    return chosen | draw(st.fixed_dictionaries({}, optional=flags))


def described(update: Update) -> dict[str, Any]:
    """An update as the peer answers it, with values instead of texts."""
    growing = update.open_path
    return {
        **update.to_dict(),
        "data": update.data,
        "path": format_path(update.path),
        "open": None if growing is None else format_path(growing),
        "completed": [format_path(path) for path in update.completed],
        "document": update.document,
        "repairs": [repair._asdict() for repair in update.repairs],
        "sent": list(update.to_dict()),
    }


def steps(cut: list[Any], chosen: dict[str, Any]) -> list[list[dict[str, Any]]]:
    limits = {"limits": Limits(**chosen["limits"])} if "limits" in chosen else {}
    stream = PartialStream(**{**chosen, **limits})
    batches = [stream.feed(piece) for piece in cut]
    return [[described(update) for update in one] for one in (*batches, stream.flush())]


def said(error: dict[str, Any] | None) -> Any:
    if error is None:
        return None
    message = spelled_message(error["message"].partition(": pass limits=")[0])
    return {**error, "message": message}


def changes(delta: Any, before: Any) -> Any:
    """A delta as JavaScript has it, where 1 and 1.0 are one number: it does not replace one by the
    other."""
    if delta is None:
        return None
    kept = []
    for one in delta:
        if one["op"] == "replace" and before is not None:
            is_there, old = lookup(before, from_pointer(one["path"], before))
            if is_there and type(old) in (int, float) and type(one["value"]) in (int, float):
                if old == one["value"]:
                    continue
        kept.append([one["op"], in_js_order(one["path"]), in_js_order(one["value"])])
    # Keys like indices come first there.
    return sorted(kept, key=repr)


def compare(ask: Ask, cut: list[Any], chosen: dict[str, Any]) -> None:
    ours = steps(cut, chosen)
    is_bytes = bool(cut) and isinstance(cut[0], bytes)
    sent = [base64.b64encode(piece).decode() for piece in cut] if is_bytes else cut
    theirs = {NAMES.get(name, name): value for name, value in chosen.items()}
    answer = ask("updates", pieces=sent, base64=is_bytes, options={**theirs, "numbers": "exact"})
    assert len(answer["steps"]) == len(ours)
    before: dict[Any, Any] = {}
    for mine, others in zip(ours, answer["steps"], strict=True):
        assert len(others) == len(mine), (others, mine)
        for update, other in zip(mine, others, strict=True):
            key = (update.get("entity"), update.get("index"), update["document"])
            for name in (
                "sent",
                "index",
                "status",
                "entity",
                "path",
                "open",
                "document",
                "repairs",
            ):
                assert in_js_order(other.get(name)) == in_js_order(update.get(name)), name
            assert said(other.get("error")) == said(update.get("error"))
            assert agree(other["data"], update["data"])
            # Python reads a container at once, where a key that came twice is not seen any more.
            assert set(other["completed"]) == set(update["completed"])
            delta = other.get("delta") and [
                {**one, "value": json.loads(one["value"])} for one in other["delta"]
            ]
            shown = changes(update.get("delta"), before.get(key))
            assert changes(delta, None) == shown
            delta = update.get("delta")
            before[key] = update["data"] if delta is None else apply_delta(before.get(key), delta)


@examples(150)
@given(text=texts(), chosen=options(), data=st.data())
def test_valid_texts(ask: Ask, text: str, chosen: dict[str, Any], data: st.DataObject) -> None:
    compare(ask, data.draw(pieces(text)), chosen)


@examples(150)
@given(text=spoiled(), chosen=options(), data=st.data())
def test_spoiled_texts(ask: Ask, text: str, chosen: dict[str, Any], data: st.DataObject) -> None:
    compare(ask, data.draw(pieces(text)), chosen)


def entities_texts() -> st.SearchStrategy[str]:
    """Texts in which the patterns above find something."""
    scalars: st.SearchStrategy[Any] = st.sampled_from(
        [0, 1.5, -12, 1e20, True, None, "", "x", "Grüße", [], {}]
    )
    items = st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["a", "b", "c", "0"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
    parts = st.dictionaries(st.sampled_from(["a", "b", "items", "x"]), items, min_size=1)
    return st.one_of(parts, st.lists(items, max_size=4)).map(json.dumps)


@examples(300)
@given(
    documents=st.lists(entities_texts(), min_size=1, max_size=3),
    chosen=options(),
    end=st.integers(0, 12),
    data=st.data(),
)
def test_entities(
    ask: Ask, documents: list[str], chosen: dict[str, Any], end: int, data: st.DataObject
) -> None:
    text = "\n".join(documents)
    compare(ask, data.draw(pieces(text[: len(text) - max(0, end - 6)])), chosen)


@examples(200)
@given(
    text=st.one_of(sloppy().map(lambda one: one.text), broken()), chosen=options(), data=st.data()
)
def test_near_json(ask: Ask, text: str, chosen: dict[str, Any], data: st.DataObject) -> None:
    compare(ask, data.draw(pieces(text)), {**chosen, "repair": True})


@examples(100)
@given(
    text=st.one_of(texts(), entities_texts()),
    chosen=options(),
    limits=st.fixed_dictionaries(
        {},
        optional={
            "depth": st.integers(0, 4),
            "text": st.integers(1, 40),
            "string": st.integers(0, 8),
            "number": st.integers(0, 6),
        },
    ),
    data=st.data(),
)
def test_limits(
    ask: Ask, text: str, chosen: dict[str, Any], limits: dict[str, int], data: st.DataObject
) -> None:
    compare(ask, data.draw(pieces(text)), {**chosen, "limits": limits})


@st.composite
def schemas(draw: st.DrawFn) -> Any:
    """JSON Schemas of what `entities_texts` writes, more or less."""
    types = ["string", "integer", "number", "boolean", "null", "array", "object"]
    one = st.sampled_from([{"type": name} for name in types])
    several = st.lists(st.sampled_from(types), min_size=1, max_size=2, unique=True)
    leaves: st.SearchStrategy[Any] = st.one_of(
        one,
        several.map(lambda names: {"type": names}),
        st.sampled_from([True, {}, {"enum": ["x", "y"]}, {"const": 5}, {"enum": [1, None]}]),
        st.just({"$ref": "#/$defs/it"}),
    )

    def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        members = st.dictionaries(st.sampled_from(["a", "b", "c", "x"]), inner, min_size=1)
        pair = st.lists(inner, min_size=1, max_size=2)
        return st.one_of(
            members.map(lambda them: {"properties": them}),
            members.map(lambda them: {"type": "object", "properties": them}),
            inner.map(lambda it: {"type": "object", "additionalProperties": it}),
            inner.map(lambda it: {"patternProperties": {"^[ab]$": it}, "type": "object"}),
            inner.map(lambda it: {"type": "array", "items": it}),
            pair.map(
                lambda them: {"type": "array", "prefixItems": them, "items": {"type": "null"}}
            ),
            *(pair.map(partial(keyed, name)) for name in ("anyOf", "oneOf", "allOf")),
        )

    schema = draw(st.recursive(leaves, around, max_leaves=6))
    if isinstance(schema, dict) and "properties" not in schema and "a" in schema:
        return True
    definition = draw(one)
    return {**schema, "$defs": {"it": definition}} if isinstance(schema, dict) else schema


@examples(300)
@given(
    text=entities_texts(),
    schema=schemas(),
    mode=st.sampled_from(["PROGRESSIVE", "REALTIME"]),
    entity=st.sampled_from([None, "a", "[*]", "*"]),
    data=st.data(),
)
def test_zero_values(
    ask: Ask, text: str, schema: Any, mode: Any, entity: Any, data: st.DataObject
) -> None:
    """Those of entities that fit the schema: JavaScript does not validate."""
    chosen = {"mode": mode, "entity": entity, "schema": schema, "zero_values": True}
    cut = data.draw(pieces(text))
    if not any(update.get("error") for step in steps(cut, chosen) for update in step):
        compare(ask, cut, {**chosen, "send": "both"})


def refusal(mode: Any, options: dict[str, Any]) -> str | None:
    """The words with which Python refuses options, with the names that JavaScript has for them."""
    try:
        PartialStream(mode, **options)
    except ValueError as error:
        words = str(error)
        for ours, theirs in NAMES.items():
            words = words.replace(ours, theirs)
        return words
    return None


@pytest.mark.parametrize("mode", [*MODES, {"a": "BATCH", "b": "PROGRESSIVE"}, {"a": "BATCH"}])
@pytest.mark.parametrize(
    "option",
    [
        {"partial_numbers": False},
        {"early_literals": True},
        {"only_complete": ["a"]},
        {"only_complete": "a"},
        {"zero_values": True, "schema": {}},
        {"zero_values": True},
        {"only_complete": 5},
        {"entity": ".*"},
        {"entity": "a..b"},
        {"only_complete": "root.$"},
    ],
)
def test_the_words_of_a_refusal_are_those_of_python(ask: Ask, mode: Any, option: Any) -> None:
    chosen = {"entity": ["a", "b"], **option} if isinstance(mode, dict) else option
    theirs = {NAMES.get(name, name): value for name, value in chosen.items()}
    words = refusal(mode, chosen)
    told = ask("refusal", options={**theirs, "mode": mode})
    assert words == told or (words and words.replace("'", '"') == told)
