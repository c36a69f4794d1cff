"""The drop-ins of `jsonrill.compat` beside their originals: at once, growing, and in programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from time import process_time
from typing import Any, Final

from .contestants import COMPILED, importing
from .measure import race
from .shapes import PIECE, pieces, text_of

Call = Callable[[Any], object]
Program = Callable[[list[str]], object]
Results = dict[str, Any]

# Drop-in → the original's module, the function, its options, whether it takes bytes.
ORIGINALS: Final[dict[str, tuple[str, str, dict[str, Any], bool]]] = {
    "jiter": ("jiter", "from_json", {"partial_mode": "trailing-strings"}, True),
    "pydantic_core": ("pydantic_core", "from_json", {"allow_partial": "trailing-strings"}, False),
    "partial_json_parser": ("partial_json_parser", "loads", {}, False),
    "json_repair": ("json_repair", "loads", {"stream_stable": True}, False),
    "langchain": ("langchain_core.utils.json", "parse_partial_json", {}, False),
}
# More texts than are remembered, so that each is new.
NEW: Final = 40
# At once; and growing, by pieces of this many characters.
AT_ONCE: Final = ("58 B", "2 KB", "20 KB")
GROWING: Final = {"58 B": 4, "2 KB": 4, "20 KB": 40, "100 KB": 200, "one long string": 200}
# The arguments of a tool call of 100 KB, for the programs.
TOOL_CALLS: Final = ("100 KB", "one long string")


def costs(budget: float, cap: float) -> Results:
    """Microseconds a call, of each original and of its drop-in, with copies and sharing."""
    results: Results = {}
    for name, (module, function, options, raw) in ORIGINALS.items():
        try:
            theirs = getattr(import_module(module), function)
        except ModuleNotFoundError:
            continue
        ours = getattr(import_module(f"jsonrill.compat.{name}"), function)
        calls = {
            "original": calling(theirs, options),
            "drop-in": calling(ours, options),
            "shared": calling(ours, {**options, "share": True}),
            **compiled(name, function, options),
        }
        rows: Results = {}
        for shape in AT_ONCE:
            texts = [encoded(another(text_of(shape), number), raw) for number in range(NEW)]
            rows[f"{shape}, at once"] = measured(calls, texts, budget, cap)
        for shape, step in GROWING.items():
            text = text_of(shape)
            texts = [encoded(text[:end], raw) for end in range(step, len(text) + step, step)]
            rows[f"{shape}, growing by {step}"] = measured(calls, texts, budget, cap)
        results[name] = rows
    return results


def compiled(name: str, function: str, options: dict[str, Any]) -> dict[str, Call]:
    """The drop-in for jiter on the compiled modules, if they are there."""
    if name != "jiter" or not COMPILED.exists():
        return {}
    with importing("jsonrill", COMPILED):
        ours = getattr(import_module(f"jsonrill.compat.{name}"), function)
    return {"compiled, shared": calling(ours, {**options, "share": True})}


def calling(function: Callable[..., Any], options: dict[str, Any]) -> Callable[[Any], object]:
    """Call it with each text, as a loop over a stream does."""

    def run(texts: Iterable[Any]) -> None:
        for text in texts:
            function(text, **options)

    return run


def another(text: str, number: int) -> str:
    """A text of the same kind that no other begins with."""
    assert text[0] == "{"
    return f'{{"{number:02}": {number},{text[1:]}'


def encoded(text: str, raw: bool) -> Any:
    return text.encode() if raw else text


def measured(calls: dict[str, Call], texts: list[Any], budget: float, cap: float) -> Results:
    timings = race(calls, texts, budget=budget, cap=cap, least=1)
    return {name: timing.as_json(len(texts)) for name, timing in timings.items()}


def programs() -> Results:
    """Processor seconds of real packages for a tool call of 100 KB.

    `nothing` is the rest of the program: its parser is replaced by a function that returns {}.
    """
    results: Results = {}
    for program, (package, run, step) in PROGRAMS.items():
        try:
            run(["{}"])
        except ModuleNotFoundError:
            continue
        for shape in TOOL_CALLS:
            cut = pieces(text_of(shape), step)
            results[f"{program}, {shape} by {step}"] = {
                way: seconds(package, run, cut, way)
                for way in ("original", "drop-in", "shared", "nothing")
            }
    return results


def seconds(package: str, run: Program, cut: list[str], way: str) -> float:
    from jsonrill import compat
    from jsonrill.compat import patching

    def nothing(*_: Any, **options: Any) -> dict[str, Any]:
        """Of no module: `_rebind` would find it there by its name, and put it back as a parser."""
        return {}

    known = patching.KNOWN[package]
    if way != "original":
        compat.install(package, share=way == "shared")
    parser = getattr(import_module(known.module), known.functions[-1])
    if way == "nothing":
        patching._rebind(parser, nothing)
    try:
        start = process_time()
        run(cut)
        return process_time() - start
    finally:
        if way == "nothing":
            patching._rebind(nothing, parser)
        compat.uninstall()


def openai_helper(cut: list[str]) -> None:
    """The state behind `client.chat.completions.stream`, with a strict tool."""
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    tool: Any = {"type": "function", "function": {"name": "write", "strict": True}}
    state = ChatCompletionStreamState(input_tools=[tool])
    opened = {"id": "call_1", "type": "function"}
    calls = [{"index": 0, **opened, "function": {"name": "write", "arguments": ""}}]
    calls += [{"index": 0, "function": {"arguments": piece}} for piece in cut]
    for call in calls:
        choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        for _ in state.handle_chunk(
            ChatCompletionChunk.model_validate({**chunk, "choices": [choice]})
        ):
            pass


def instructor_partial(cut: list[str]) -> None:
    """instructor's `Partial`, of a model that takes what comes."""
    from instructor.v2.dsl.partial import Partial
    from pydantic import BaseModel

    class Answer(BaseModel):
        model_config = {"extra": "allow"}

    for _ in Partial[Answer].model_from_chunks(cut):  # type: ignore[attr-defined]
        pass


def langchain_chain(cut: list[str]) -> None:
    """A chain that ends in a `JsonOutputParser`."""
    from langchain_core.output_parsers import JsonOutputParser
    from langchain_core.runnables import RunnableGenerator

    def model(_: Iterator[Any]) -> Iterator[str]:
        yield from cut

    for _ in (RunnableGenerator(model) | JsonOutputParser()).stream(""):
        pass


# The last two read all the text in Python at each call: with smaller pieces they take minutes.
PROGRAMS: Final[dict[str, tuple[str, Program, int]]] = {
    "openai's helper": ("jiter", openai_helper, PIECE),
    "instructor's Partial": ("jiter", instructor_partial, 16 * PIECE),
    "a LangChain chain": ("langchain", langchain_chain, 64 * PIECE),
}
