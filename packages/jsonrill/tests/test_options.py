"""Every option stands in one table; signatures, types and fronts say the same as the table."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args, get_type_hints

import pytest
from jsonrill.options import (
    JOBS,
    NOT_OFFERED,
    TABLE,
    TEXT_STAGES,
    CallOptions,
    ChunkOptions,
    Front,
    Option,
    ParseOptions,
    ReadOptions,
    ReadTextOptions,
    ReadUpdateOptions,
    SourceOptions,
    Stage,
    TextOptions,
    UpdateOptions,
    jobs_of,
    offered,
    taken_by,
)

import jsonrill
from jsonrill import Chunker, Document, Limits, Parser, PartialStream, Rebuilder, ToolCalls
from jsonrill.parse.machine import Machine
from jsonrill.selection import Selection, TextSelection

STAGES: dict[Stage, tuple[type, type | None]] = {
    "values": (Document, ParseOptions),
    "fragments": (Parser, ParseOptions),
    "updates": (PartialStream, UpdateOptions),
    "chunks": (Chunker, ChunkOptions),
    "calls": (ToolCalls, CallOptions),
    "rebuild": (Rebuilder, None),
    "select": (Selection, ParseOptions),
    "text": (TextSelection, TextOptions),
}
# What a stage or a function has beside its options: parameters before them.
FIELDS: dict[Any, tuple[str, ...]] = {
    "select": ("field",),
    "text": ("field",),
    jsonrill.select: ("field",),
    jsonrill.text: ("field",),
    jsonrill.fields: ("schema",),
}
# The functions of a stage, their options, and their parameters that are no options of it.
FUNCTIONS: dict[Callable[..., Any], tuple[Stage, type, set[str]]] = {
    jsonrill.values: ("values", ReadOptions, {"schema", "live", "missing", "many"}),
    jsonrill.fields: ("values", ReadOptions, set()),
    jsonrill.loads: ("values", ParseOptions, {"schema"}),
    jsonrill.partial: ("values", ParseOptions, {"schema", "missing"}),
    jsonrill.fragments: ("fragments", ReadOptions, set()),
    jsonrill.updates: ("updates", ReadUpdateOptions, {"mode", "schema", "every", "many"}),
    jsonrill.select: ("select", ReadOptions, {"schema"}),
    jsonrill.text: ("text", ReadTextOptions, {"read_all"}),
    jsonrill.chunks: ("chunks", ChunkOptions, set()),
    jsonrill.tool_calls: ("calls", CallOptions, {"calls", "answer"}),
}
IN_PYTHON_ALONE = pytest.mark.skipif(
    jsonrill.compiled, reason="compiled functions do not keep their annotations"
)


def names_of(stage: Stage) -> set[str]:
    return {option.name for option in taken_by(stage)}


def test_each_stage_is_compared() -> None:
    assert tuple(STAGES) == get_args(Stage)


@IN_PYTHON_ALONE
@pytest.mark.parametrize("stage", STAGES)
def test_the_signature_of_a_stage_is_what_the_table_says(stage: Stage) -> None:
    stage_class, typed = STAGES[stage]
    parameters = dict(inspect.signature(stage_class).parameters)
    for name in FIELDS.get(stage, ()):
        del parameters[name]
    hints = get_type_hints(stage_class.__init__)  # type: ignore[misc]
    handed_on: set[str] = set()
    if parameters.pop("options", None) is not None:
        assert typed is not None and get_args(hints["options"]) == (typed,)
        handed_on = set(get_type_hints(typed))
    assert {*parameters, *handed_on} == names_of(stage)
    for name, parameter in parameters.items():
        assert parameter.default == TABLE[name].default, name
        assert hints[name] == TABLE[name].type, name


@IN_PYTHON_ALONE
def test_the_machine_has_the_defaults_of_the_table() -> None:
    for name, parameter in inspect.signature(Machine).parameters.items():
        assert name == "sink" or parameter.default == TABLE[name].default, name
    assert not any(TABLE[name].default for name in ("repair", "on_repair", "prefix"))


TEXT = [stage for stage in STAGES if stage in TEXT_STAGES]


@pytest.mark.parametrize("stage", TEXT)
def test_a_class_refuses_an_unknown_option_with_the_nearest_name(stage: Stage) -> None:
    stage_class = STAGES[stage][0]
    with pytest.raises(TypeError, match="unknown option: prefixes; did you mean prefix?"):
        stage_class(*FIELDS.get(stage, ()), prefixes="{")


@pytest.mark.parametrize("stage", TEXT)
def test_each_class_that_reads_text_hands_its_options_on(stage: Stage) -> None:
    """An option that a constructor names, it could also forget: the two that refuse text tell."""
    stage_class = STAGES[stage][0]
    refused = 0
    for options in ({"prefix": "]"}, {"limits": Limits(depth=1)}):
        reader = stage_class(*FIELDS.get(stage, ()), **options)
        try:
            for step in (reader.feed('{"a": [[1]], "a": 2}'), reader.flush()):
                updates = step if not isinstance(step, bool) else ()
                refused += any(getattr(update, "error", None) is not None for update in updates)
        except (jsonrill.InvalidJSON, jsonrill.LimitExceeded):
            refused += 1
    assert refused == 2


@pytest.mark.parametrize("stage", STAGES)
def test_the_typed_dict_of_a_stage_is_what_the_table_says(stage: Stage) -> None:
    kind = STAGES[stage][1]
    if kind is None:
        return  # no function takes its options
    hints = get_type_hints(kind)
    own = {"updates": {"mode", "schema"}, "select": {"schema"}}.get(stage, set())
    assert set(hints) == names_of(stage) - own
    assert all(kind == TABLE[name].type for name, kind in hints.items())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda it: it.__name__)
def test_a_function_takes_the_options_of_its_stage_as_typed_keywords(
    function: Callable[..., Any],
) -> None:
    stage, kind, own = FUNCTIONS[function]
    source, *parameters = inspect.signature(function).parameters.values()
    assert {it.name for it in parameters} == {*own, *FIELDS.get(function, ()), "options"}
    hint = get_type_hints(function)["options"]
    assert get_args(hint) == (kind,)
    sources = {it.name for it in taken_by("source")} if "tool" in get_type_hints(kind) else set()
    assert set(get_type_hints(kind)) == (names_of(stage) | sources) - own


def test_what_an_editor_shows_for_values_names_all_its_options() -> None:
    options = {*get_type_hints(ReadOptions), "schema", "live", "missing"}
    assert {it for it in options if f"`{it}" not in (jsonrill.values.__doc__ or "")} == set()


def test_the_options_of_sources_are_what_the_table_says() -> None:
    hints = get_type_hints(SourceOptions)
    assert set(hints) == {it.name for it in taken_by("source")}
    assert all(kind == TABLE[name].type for name, kind in hints.items())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda it: it.__name__)
def test_an_unknown_keyword_is_refused_at_the_call_with_the_nearest_name(
    function: Callable[..., Any],
) -> None:
    stage, *_ = FUNCTIONS[function]
    name = max((names_of(stage) - {"mode"}), key=len)
    with pytest.raises(TypeError, match=f"unknown option: {name}x; did you mean {name}?"):
        function("[]", *FIELDS.get(function, ()), **{f"{name}x": True})
    with pytest.raises(TypeError, match=f"qqqq; there are .*{name}"):
        function("[]", *FIELDS.get(function, ()), qqqq=True)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_refuses_a_value_of_another_type_by_name(stage: Stage) -> None:
    stage_class = STAGES[stage][0]
    for option in taken_by(stage):
        with pytest.raises((TypeError, ValueError), match=option.name.rpartition("_")[2]):
            stage_class(*FIELDS.get(stage, ()), **{option.name: object()})


@pytest.mark.parametrize("value", [1, [1], [["commas"]], {"commas": True}, b"commas"])
def test_repairs_are_given_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match="repair is true, false, or names of repairs, not"):
        Parser(repair=value)


@pytest.mark.parametrize("value", ["x", None, True, 1.5])
def test_limits_are_whole_numbers(value: Any) -> None:
    with pytest.raises(TypeError, match="keys is a whole number, not"):
        Limits(keys=value)
    with pytest.raises(ValueError, match="at least 1"):
        Limits(text=0)


def test_arguments_of_functions_are_checked_at_the_call() -> None:
    for choice in ("x", -1, True, None):
        with pytest.raises(ValueError, match="choice is a whole number from 0 up, not"):
            jsonrill.content([], choice=choice)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="calls is a ToolCalls object, not 3"):
        jsonrill.tool_calls([], calls=3)  # type: ignore[call-overload]


def test_what_a_front_does_not_offer_has_a_reason_and_is_an_option() -> None:
    for name, (fronts, reason) in NOT_OFFERED.items():
        assert name in TABLE and reason and set(fronts) <= set(get_args(Front))


def by_front(front: Front, stage: Stage) -> set[str]:
    return {option.name for option in offered(front, stage)}


@pytest.mark.parametrize("stage", [it for it in STAGES if it not in ("rebuild", "text")])
def test_the_command_line_offers_each_option(stage: Stage) -> None:
    typer = pytest.importorskip("typer")
    from jsonrill.cli.app import app

    from jsonrill.cli.options import OWN

    flags = {it.name for it in typer.main.get_command(app).commands[stage].params}
    own = {option.name for option in OWN if stage in option.stages}
    expected = by_front("cli", stage)
    if stage in TEXT_STAGES:
        expected |= {"choice", "tool", "provider"}
    if stage == "values":
        expected |= {"schema"}
    if stage in ("values", "updates"):
        expected |= {"many"}
    assert as_options(flags) - own - {"files", "field", "rules"} == expected


def as_options(flags: set[str]) -> set[str]:
    """The names of the options: each of the limits has a flag of its own."""
    limits = {f"max_{limit.name}" for limit in fields(Limits)}
    assert not limits & flags or limits <= flags
    return flags - limits | ({"limits"} if limits <= flags else set())


def test_the_command_of_batches_offers_each_option_of_a_job() -> None:
    typer = pytest.importorskip("typer")
    from jsonrill.cli.app import app

    jobs = typer.main.get_command(app).commands["batch"].commands
    assert jobs.keys() == {*JOBS, "resume"}
    for kind in JOBS:
        flags = {it.name for it in jobs[kind].params}
        both = [option for option in offered("batch") if option in offered("cli")]
        taken = {option.name for option in both if kind in jobs_of(option)}
        # Of calls: --schema TOOL=FILE.
        assert taken - as_options(flags) == ({"schemas"} if kind == "calls" else set())


@pytest.mark.parametrize("stage", STAGES)
def test_the_server_takes_and_describes_each_option(stage: Stage) -> None:
    from jsonrill_server.http.openapi import document

    create = document()["paths"]["/v1/streams"]["post"]
    described = create["requestBody"]["content"]["application/json"]["schema"]["properties"]
    taken = {name for name in described if name in names_of(stage)}
    assert taken == by_front("server", stage)
    assert all(described[name]["description"] == TABLE[name].help for name in taken)


@pytest.mark.parametrize("stage", STAGES)
def test_a_batch_job_has_each_option(stage: Stage) -> None:
    from jsonrill_batch import Job

    job = {field.name: field for field in fields(Job)}
    for option in offered("batch", stage):
        same = option.name in ("mode", "limits") or job[option.name].default == option.default
        assert same, option.name
    # The `keep` of a job is another one: bytes of a line in quarantine.
    assert names_of(stage) & set(job) - {"keep"} == by_front("batch", stage)


@pytest.mark.parametrize(
    "name, value",
    [
        ("mode", "REALTIM"),
        ("mode", None),
        ("mode", ["REALTIME"]),
        ("send", "DATA"),
        ("partial_numbers", 1),
        ("many", "yes"),
        ("null", "none"),
        ("keep", -1),
        ("keep", True),
        ("keep", 1.5),
        ("provider", "nobody"),
        ("provider", 5),
        ("schemas", []),
        ("lease", 0.5),
        ("lease", float("nan")),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} is .*, not "):
        TABLE[name].check(value)


@pytest.mark.parametrize(
    "name, value, read",
    [
        ("mode", "one_by_one", "ONE-BY-ONE"),
        ("provider", "OpenAI-Chat", "openai_chat"),
        ("keep", None, None),
        ("lease", 2, 2),
        ("schemas", None, None),
    ],
)
def test_a_value_that_is_allowed_is_read(name: str, value: Any, read: Any) -> None:
    assert TABLE[name].check(value) == read


def test_defaults_are_allowed() -> None:
    for option in TABLE.values():
        assert option.check(option.default) == option.default


def test_registries_have_handed_over_their_names() -> None:
    from jsonrill.parse.rules import RULES
    from jsonrill.providers import PROVIDERS

    assert TABLE["provider"].choices == ("auto", *PROVIDERS)
    assert TABLE["repair"].choices == tuple(RULES)


def test_a_json_schema_says_what_is_checked() -> None:
    option = Option("n", int, 1, (), "Some number.", least=1, most=9)
    assert option.json_schema == {
        "type": "integer",
        "description": "Some number.",
        "minimum": 1,
        "maximum": 9,
    }
    assert json.loads(json.dumps([it.json_schema for it in offered("server")]))


def event(text: str) -> dict[str, Any]:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": text}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def test_repair_reaches_tool_calls_everywhere() -> None:
    """Arguments with a trailing comma are an error, or repaired: in all fronts alike."""
    pytest.importorskip("typer")
    from jsonrill.cli.app import app
    from typer.testing import CliRunner

    from jsonrill_batch import Job, process_shard

    events = [event('{"a": [1,'), event("]}"), END]
    lines = "".join(json.dumps(it) + "\n" for it in events)
    for repair in (False, True):
        status = "complete" if repair else "error"
        by_library = ToolCalls(repair=repair)
        for it in events:
            by_library.feed(it)
        assert by_library.calls[0].status == status
        assert [it.rule for it in by_library.repairs] == ["commas"] * repair

        flags = ["--repair", "--report"] if repair else []
        done = CliRunner().invoke(app, ["calls", *flags], input=lines)
        assert done.exit_code == (0 if repair else 1)
        assert ("repaired commas" in done.stderr) is repair
        assert json.loads(done.stdout.splitlines()[-1])["status"] == status

        rows: list[str] = []
        job = Job(kind="calls", repair=repair)
        process_shard([json.dumps({"id": 1, "events": events})], job, rows.append)
        assert json.loads(rows[0])["calls"][0]["status"] == status
