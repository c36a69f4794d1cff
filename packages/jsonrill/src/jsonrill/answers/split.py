"""One text → prose, reasoning, JSON blocks and the tool calls that open models write as text.

`TAGS` is the table: each entry says how a part begins, and names the reader of what follows.
Nothing is lost: joined, the `raw` of all segments is the text. Only what may be the beginning of a
tag is held back.

    It rains.<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>

    text 'It rains.'    call 'f' '{"a": 1}' (raw from <tool_call> to </tool_call>)

A tag inside of a JSON string, after a back-tick, or in a fenced block of another language is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from ..parse.reasoning import ELEMENTS, MARKS
from . import readers
from .readers import TagReader

SegmentKind = Literal["text", "reasoning", "json", "call"]


@dataclass(slots=True)
class Segment:
    """A piece of one part: its content, and the characters of the text that it stands for."""

    kind: SegmentKind
    # The parts of a text are numbered; the prose before, between and behind them, too.
    number: int
    content: str = ""
    raw: str = ""
    # Of a call.
    name: str | None = None
    id: str | None = None
    # True: the part has ended as it should.
    closed: bool = False


class Tag(NamedTuple):
    """How a part begins: `opening` is a literal; `accepts` looks at what follows it.

    With an empty opening the text begins inside of such a part. `reader` is the name of a reader in
    `READERS` and what it is made with, `accepts` the name of a function in `_FUNCTIONS`, or what
    may follow after white space. `at_line` says that the opening must be the first thing in its
    line. `surely`: it cannot be mistaken for prose.
    """

    name: str
    opening: str
    reader: tuple[str, ...]
    accepts: tuple[str, ...] = ("anything",)
    at_line: bool = False
    surely: bool = True

    def make(self) -> TagReader:
        """A reader of what follows the opening."""
        name, *arguments = self.reader
        return READERS[name](*arguments)


# True, False, or None if more text is needed to know.
Accepts = Callable[[str], bool | None]


def _after_space(*beginnings: str) -> Accepts:
    """Accepts a text that begins, after white space, with one of these."""

    def accepts(rest: str) -> bool | None:
        stripped = rest.lstrip()
        if len(rest) - len(stripped) > _MOST_SPACE:
            return False
        if any(stripped.startswith(it) for it in beginnings):
            return True
        return None if any(it.startswith(stripped) for it in beginnings) else False

    return accepts


def _names_a_call(rest: str) -> bool | None:
    """Accepts what may follow `<tool_call>`: an object, a function tag, or a name and arguments."""
    fits = _after_space("{", "<function=", "```")(rest)
    if fits and rest.lstrip().startswith("<function="):
        return _function_name(rest.lstrip().removeprefix("<function="))
    if fits is False:
        fits = _object_in_list(rest)
    if fits is not False:
        return fits
    name = re.match(r"\n?[\w.\-]{1,200}", rest)
    if name is None:
        return False
    return _after_space("<arg_key>", "</tool_call>")(rest[name.end() :])


def _object_in_list(rest: str) -> bool | None:
    """Accepts a list whose first element is an object."""
    fits = _after_space("[")(rest)
    return _after_space("{")(rest.lstrip()[1:]) if fits else fits


def _mistral_call(rest: str) -> bool | None:
    """Accepts what may follow `[TOOL_CALLS]`: a list of objects, or a name and arguments."""
    fits = _object_in_list(rest)
    name = re.match(r"\s{0,100}[\w.\-]{1,200}", rest)
    if fits is not False or name is None:
        return fits
    return _after_space("[ARGS]", "[CALL_ID]", "{")(rest[name.end() :])


def _is_json_fence(rest: str) -> bool | None:
    """Accepts the rest of a fence's first line, and what follows, if the block holds JSON."""
    line, end, body = rest.partition("\n")
    info = line.strip().lower()
    if len(line) > 80:
        return False
    if not end:
        return None if any(name.startswith(info) for name in _JSON_FENCES) else False
    if info in _JSON_FENCES:
        return True
    return _after_space("{", "[")(body) if not info else False


# White space after a tag that is not decided; with more of it the tag is text.
_MOST_SPACE: Final = 1000
_JSON_FENCES: Final = ("json", "jsonc", "json5")
_JSON: Final = ("after space", "{", "[")
_begin, _end = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"


def _reasoning() -> Iterator[Tag]:
    """The tags around reasoning, in small letters, in capitals, and with a capital."""
    for spelled in (str.lower, str.upper, str.capitalize):
        for name in map(spelled, ELEMENTS):
            yield Tag("think", f"<{name}>", ("reasoning", f"</{name}>"), at_line=True)
    for spelled in (str.lower, str.upper):
        for opening, closing in MARKS:
            if spelled is str.lower or spelled(opening) != opening:
                yield Tag("think", spelled(opening), ("reasoning", spelled(closing)))


# The JavaScript package has a copy, which tools/tables.py writes.
TAGS: Final[tuple[Tag, ...]] = (
    *_reasoning(),
    Tag("fence", "```", ("fence",), ("json fence",), at_line=True),
    Tag("json", "<json>", ("json", "</json>"), _JSON),
    Tag("hermes", "<tool_call>", ("tool call",), ("names a call",)),
    Tag("mistral", "[TOOL_CALLS]", ("mistral",), ("mistral call",)),
    Tag("llama", "<|python_tag|>", ("llama",), _JSON),
    Tag("llama", "<function=", ("function",), ("function name",)),
    Tag(
        "deepseek",
        _begin,
        ("deepseek", _end),
        ("after space", "<｜tool▁call▁begin｜>", _end),
    ),
    Tag(
        "deepseek",
        "<｜DSML｜function_calls>",
        ("invokes", "｜DSML｜function_calls", "｜DSML｜"),
        ("after space", "<｜DSML｜invoke "),
    ),
    Tag(
        "deepseek",
        "<｜DSML｜tool_calls>",
        ("invokes", "｜DSML｜tool_calls", "｜DSML｜"),
        ("after space", "<｜DSML｜invoke "),
    ),
    Tag(
        "kimi",
        "<|tool_calls_section_begin|>",
        ("kimi",),
        ("after space", "<|tool_call_begin|>", "<|tool_calls_section_end|>"),
    ),
    Tag("granite", "<|tool_call|>", ("objects",), ("object in list",)),
    Tag(
        "internlm",
        "<|action_start|><|plugin|>",
        ("objects", "<|action_end|>"),
        ("after space", "{"),
    ),
    Tag(
        "minimax",
        "<minimax:tool_call>",
        ("invokes", "minimax:tool_call"),
        ("after space", "<invoke "),
    ),
    Tag("minimax", "<tool_calls>", ("objects", "</tool_calls>"), _JSON),
    Tag("invoke", "<function_calls>", ("invokes", "function_calls"), ("after space", "<invoke ")),
    Tag("open-think", "", ("open reasoning", "</think>"), surely=False),
    Tag("pythonic", "[", ("pythonic",), ("python call",), at_line=True, surely=False),
)


def _function_name(rest: str) -> bool | None:
    name = re.match(r"[\"']?[\w.\-]{0,200}[\"']?[ \t]{0,10}", rest)
    behind = rest[name.end() :] if name else ""
    return behind.startswith(">") and bool(name and name[0].strip("\"' \t")) if behind else None


def _python_call(rest: str) -> bool | None:
    if re.match(r"\s{0,100}[A-Za-z_][\w.]{0,100}\(", rest):
        return True
    begun = re.fullmatch(r"\s{0,100}(?:[A-Za-z_][\w.]{0,100})?", rest)
    return None if begun else False


READERS: Final[dict[str, Callable[..., TagReader]]] = {
    "reasoning": readers.ReasoningTags,
    "open reasoning": readers.OpenReasoning,
    "json": readers.Json,
    "fence": readers.Fence,
    "objects": readers.Objects,
    "tool call": readers.ToolCallTag,
    "function": readers.Function,
    "mistral": readers.MistralTags,
    "llama": readers.Llama,
    "deepseek": readers.DeepSeek,
    "kimi": readers.Kimi,
    "invokes": readers.Invokes,
    "pythonic": readers.Pythonic,
}
_FUNCTIONS: Final[dict[str, Accepts]] = {
    "anything": lambda rest: True,
    "json fence": _is_json_fence,
    "names a call": _names_a_call,
    "object in list": _object_in_list,
    "mistral call": _mistral_call,
    "function name": _function_name,
    "python call": _python_call,
}


def _accepts(tag: Tag) -> Accepts:
    name, *beginnings = tag.accepts
    return _FUNCTIONS[name] if not beginnings else _after_space(*beginnings)


_ACCEPTS: Final = {tag: _accepts(tag) for tag in TAGS}
NAMES: Final = tuple(dict.fromkeys(tag.name for tag in TAGS))


def chosen(split: bool | Iterable[str]) -> list[Tag]:
    """The entries of the table that `split` asks for; `ValueError` for a name that it lacks."""
    if isinstance(split, bool):
        return [tag for tag in TAGS if tag.surely] if split else []
    names = {split} if isinstance(split, str) else set(split)
    if unknown := names.difference(NAMES):
        raise ValueError(f"split has no {', '.join(sorted(unknown))}; it has {', '.join(NAMES)}")
    return [tag for tag in TAGS if tag.name in names]


class Splitter:
    """Divides one text: `feed` it in pieces, then `flush`.

    `repair`: JSON may be in single quotes. `first`: it is the first text of an answer.
    """

    def __init__(
        self, split: bool | Iterable[str] = True, repair: bool = False, first: bool = True
    ) -> None:
        tags = chosen(split)
        self._tags = [tag for tag in tags if tag.opening]
        self._repair = repair
        # True once there was any text.
        self.fed = False
        longest = sorted((re.escape(tag.opening) for tag in self._tags), key=len, reverse=True)
        self._openings = re.compile("|".join([*dict.fromkeys(longest), "```"]))
        self._literals = sorted({tag.opening for tag in self._tags} | {"```"})
        self._at_line = {tag.opening for tag in self._tags if tag.at_line} | {"```"}
        self._stops = tuple(
            tag.opening
            for tag in self._tags
            if tag.opening[:2] in ("<|", "<｜") and tag.name != "think"
        )
        self._first = {literal[0] for literal in self._literals}
        self._longest = max(map(len, self._literals))
        # The text that is not decided yet, and what reads it: None in prose.
        self._held = ""
        self._reader: TagReader | None = None
        self._raw = ""
        self._number = 0
        # The last character before the held text, and whether the line is blank so far.
        self._before = ""
        self._blank = True
        # Inside of a fenced block that holds no JSON.
        self._fenced = False
        for tag in tags:
            if first and not tag.opening:  # the text begins inside of it
                self._begin(tag)

    def feed(self, text: str) -> list[Segment]:
        """The segments that this piece makes certain."""
        self.fed = self.fed or text != ""
        self._held += text
        return list(self._run(end=False))

    def flush(self) -> list[Segment]:
        """The segments at the end of the text: what was held back is what it looks like."""
        return list(self._run(end=True))

    def _run(self, *, end: bool) -> Iterator[Segment]:
        while True:
            if self._reader is None:
                opened = yield from self._prose(end)
                if not opened:
                    return
            else:
                yield from self._part(end)
                if self._reader is not None:
                    return

    # ---- prose ----

    def _prose(self, end: bool) -> Generator[Segment, None, bool]:
        """Emit prose up to the next part. Returns True if a part begins."""
        at = 0
        while True:
            opening = self._openings.search(self._held, at)
            if opening is None:
                keep = 0 if end else self._possible_opening(at)
                yield from self._text(len(self._held) - keep)
                return False
            tag = self._decide(opening, end)
            if tag is False and not end and self._may_be_longer(opening.start()):
                tag = None
            if tag is None:
                yield from self._text(opening.start())
                return False
            if tag is False:
                at = opening.end()
                continue
            yield from self._text(opening.start())
            self._begin(tag)
            return True

    def _decide(self, opening: re.Match[str], end: bool) -> Tag | Literal[False] | None:
        """The tag that begins here; False if none does; None if more text is needed."""
        start = opening.start()
        blank = self._is_blank(start)
        before = self._held[start - 1] if start else self._before
        if opening[0] == "```" and (self._fenced or not any(t.name == "fence" for t in self._tags)):
            self._fenced = self._fenced != blank
            return False
        if self._fenced or before == "`":
            return False
        rest = self._held[opening.end() :]
        undecided = False
        for tag in self._tags:
            if tag.opening != opening[0] or (tag.at_line and not blank):
                continue
            accepted = _ACCEPTS[tag](rest)
            if accepted:
                return tag
            undecided = undecided or accepted is None
        if undecided and not end:
            return None
        if opening[0] == "```" and blank:
            self._fenced = True
        return False

    def _possible_opening(self, at: int) -> int:
        """How many characters at the end may be the beginning of an opening."""
        held = self._held
        for start in range(max(at, len(held) - self._longest + 1), len(held)):
            if held[start] in self._first:
                tail = held[start:]
                possible = [literal for literal in self._literals if literal.startswith(tail)]
                if possible and (self._is_blank(start) or not self._at_line.issuperset(possible)):
                    return len(tail)
        return 0

    def _may_be_longer(self, at: int) -> bool:
        """True if the text from here on may become a longer opening."""
        tail = self._held[at : at + self._longest]
        return any(literal.startswith(tail) and literal != tail for literal in self._literals)

    def _is_blank(self, at: int) -> bool:
        """True if nothing but white space is before this place in its line."""
        line = self._held[:at].rpartition("\n")
        return not line[2].strip() and (bool(line[1]) or self._blank)

    def _text(self, length: int) -> Iterator[Segment]:
        text, blank = self._held[:length], self._is_blank(length)
        self._held = self._held[length:]
        if text:
            self._before, self._blank = text[-1], blank
            yield Segment("text", self._number, text, text)

    def _begin(self, tag: Tag) -> None:
        self._number += 1
        self._reader = tag.make()
        self._reader.repair = self._repair
        self._reader.stops = self._stops
        self._raw, self._held = self._held[: len(tag.opening)], self._held[len(tag.opening) :]

    # ---- a part ----

    def _part(self, end: bool) -> Iterator[Segment]:
        reader = self._reader
        assert reader is not None
        read = reader.read(self._held, end)
        before = len(self._raw)
        # Text that says nothing yet belongs to what follows it, however it was cut.
        raw, self._held = self._raw + self._held[: read.taken], self._held[read.taken :]
        at = 0
        for content in read.contents:
            if content.begins:
                self._number += 1
            shown, at = raw[at : before + content.at], before + content.at
            yield Segment(
                reader.kind,
                self._number,
                content.text,
                shown,
                content.name,
                content.id,
                content.closed,
            )
        self._raw = raw[at:]
        if read.done or end:
            if self._raw:
                yield Segment(reader.kind, self._number, "", self._raw)
            self._raw = ""
            self._reader = None
            self._number += 1
            self._before, self._blank = "", True
