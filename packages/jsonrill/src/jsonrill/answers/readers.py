"""How each part of a text is read, from behind its opening tag to behind its closing one.

A reader is a generator that stops wherever it needs more text. It says what it found as `Content`;
the arguments of a call are JSON text, also where a model writes them as XML or as Python.
"""

from __future__ import annotations

import ast
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import Any, ClassVar, Final, Literal, NamedTuple

from ..jsontext import quoted
from .spans import JsonSpan

# A generator that stops for more text, and what it returns in the end.
Steps = Generator[None, None, Any]

_CALL, _CALL_END = "<tool_call>", "</tool_call>"
# White space that is held back, and calls in Python that are; more than that is no call.
_MOST_SPACE: Final = 1000
_MOST_PYTHON: Final = 50_000


class Content(NamedTuple):
    """What a reader found: text of the part, and of a call its name and id."""

    text: str = ""
    name: str | None = None
    id: str | None = None
    # True: the part is closed; `begins`: this opens another part of the same kind.
    closed: bool = False
    begins: bool = False
    # How many characters were taken when it was known.
    at: int = 0


class Read(NamedTuple):
    """How many characters were taken, what they say, and whether the part has ended."""

    taken: int
    contents: list[Content]
    done: bool


class _Over(Exception):
    """The text has ended inside of a part."""


class _Broken(Exception):
    """A part that has not ended is followed by another."""


class TagReader(ABC):
    """Reads one part, or a section of several calls."""

    kind: ClassVar[Literal["reasoning", "json", "call"]] = "call"
    # True: near-JSON is repaired later, so strings may be in single quotes.
    repair = False
    # What ends reasoning that was not closed: beginnings of calls that are never prose.
    stops: tuple[str, ...] = ()
    # What begins another part, after a call that was not closed.
    _breaks: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self._text = ""
        self._at = 0
        self._end = False
        self._contents: list[Content] = []
        self._calls = 0
        # True: the object that is read has had its name.
        self._named = False
        # And its arguments.
        self._argued = False
        self._steps = self._script()

    def read(self, text: str, end: bool) -> Read:
        """Read on: `text` begins with what was not taken before. With `end`, all of it is taken."""
        self._text, self._at, self._end, self._contents = text, 0, end, []
        try:
            next(self._steps)
            done = False
        except (StopIteration, _Over, _Broken) as stopped:
            done = True
            if isinstance(stopped, _Over):
                self._at = len(text)
        return Read(len(text) if end and not done else self._at, self._contents, done)

    @abstractmethod
    def _script(self) -> Iterator[None]: ...

    # ---- what a script does ----

    def _more(self) -> Iterator[None]:
        """Wait for more text."""
        if self._end:
            raise _Over
        yield

    def _say(self, text: str = "", **fields: Any) -> None:
        self._contents.append(Content(text, **fields, at=self._at))

    def _call(self, name: str, id: str | None = None) -> None:
        """A call begins. Without a name it stays an error."""
        self._say(name=name or None, id=id, begins=self._calls > 0)
        self._calls += 1

    def _starts(self, *literals: str) -> Steps:
        """Take white space; which of these literals comes now, or None."""
        while True:
            rest = self._text[self._at :].lstrip()
            self._at = len(self._text) - len(rest)
            if self._end or not any(one.startswith(rest) and one != rest for one in literals):
                return next((one for one in literals if rest.startswith(one)), None)
            yield from self._more()

    def _skip(self, *literals: str) -> Steps:
        """Take white space, and one of these literals if it comes now; returns it."""
        literal = yield from self._starts(*literals)
        self._at += len(literal or "")
        return literal

    def _next(self, *literals: str) -> tuple[int, str]:
        """Where one of these literals comes first, and which; (-1, "") if none does."""
        places = [(at, one) for one in literals if (at := self._text.find(one, self._at)) >= 0]
        return min(places, default=(-1, ""))

    def _overlap(self, *literals: str) -> int:
        """How many characters at the end may be the beginning of one of these literals."""
        if self._end:
            return 0
        return max((_overlap(self._text, self._at, it) for it in literals), default=0)

    def _until(self, *literals: str) -> Steps:
        """Take the text up to one of these literals, and the literal; returns both."""
        before: list[str] = []
        while True:
            at, literal = self._next(*literals)
            if not literal:
                at = len(self._text) - self._overlap(*literals)
            before.append(self._text[self._at : at])
            self._at = at + len(literal)
            if literal:
                return "".join(before), literal
            yield from self._more()

    def _stream(self, close: str) -> Steps:
        """Pass text on up to `close`, or to what stops it, which is not taken; only what may be the
        beginning of either is held back."""
        while True:
            at, end = self._next(close, *self.stops)
            upto = at if end else len(self._text) - self._overlap(close, *self.stops)
            if upto > self._at:
                text, self._at = self._text[self._at : upto], upto
                self._say(text)
            if end:
                self._at += len(close) if end == close else 0
                return
            yield from self._more()

    def _json(self, *closes: str) -> Steps:
        """Pass one JSON value on as it comes, without the white space before it. Returns True if it
        has ended.

        One of `closes` outside of a string ends it, too; it is not taken. The value is broken then.
        """
        span = JsonSpan(self.repair)
        while not (rest := self._text[self._at :].lstrip()):
            yield from self._more()
        self._at = len(self._text) - len(rest)
        while not span.done:
            at, close = self._next(*closes)
            limit = at if close else len(self._text) - self._overlap(*closes)
            upto = span.take(self._text[:limit], self._at)
            if upto > self._at:
                text, self._at = self._text[self._at : upto], upto
                self._say(text)
            if span.done:
                break
            if close and upto == limit:
                if not span.in_string:
                    return False
                span.take(close, 0)  # it is part of a string
                self._say(close)
                self._at += len(close)
            elif self._end and span.started and not span.in_string:
                return False
            else:
                yield from self._more()
        return True

    def _rest(self, close: str) -> Steps:
        """Take the text up to `close`, which should be white space. Anything else is passed on, so
        that the call fails in sight."""
        text, end = yield from self._until(close, *self._breaks)
        if end != close:
            self._at -= len(end)
            raise _Broken
        if text.strip():
            self._say(text)

    def _string(self) -> Steps:
        """Take one complete JSON value and return it; None if it is not JSON."""
        span = JsonSpan(self.repair)
        taken: list[str] = []
        while not span.done:
            upto = span.take(self._text, self._at)
            taken.append(self._text[self._at : upto])
            self._at = upto
            if not span.done:
                yield from self._more()
        text = "".join(taken).strip()
        try:
            # A string of Python's is the same in JSON, but for some escapes.
            return ast.literal_eval(text) if text[:1] == "'" else json.loads(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None

    def _object(self, *close: str) -> Steps:
        """Read one call: an object with a name and arguments, in any order. What closes the section
        ends a broken one; it is not taken."""
        depth = 0
        self._named = False
        named = self._calls
        begins = separated = True
        self._argued = False
        quotes = ('"', "'") if self.repair else ('"',)
        while True:
            mark = yield from self._skip("{", "}", ",", *quotes, *close)
            if mark == "{":
                depth += 1
                if begins:
                    self._say(begins=self._calls > 0)
                    self._calls += 1
                    begins = False
            elif mark == "}":
                depth -= 1
                if depth == 0:
                    self._say(closed=True)
                    return
            elif mark == ",":
                separated = True
            elif mark in quotes:
                if not separated:  # the arguments have ended too early: the call fails in sight
                    self._say(mark)
                self._at -= 1
                separated = yield from self._member(*close)
            elif mark in close and mark is not None:
                # Only the call's own bracket is missing; else the call fails in sight.
                self._at -= len(mark)
                self._say("" if self._argued else mark, closed=self._argued)
                return
            elif mark is None:
                # Not JSON: pass it on as it is, so that the call fails in sight.
                if self._at == len(self._text):
                    yield from self._more()
                    continue
                self._say(self._text[self._at])
                self._at += 1
                if begins and named == self._calls:
                    return

    def _member(self, *close: str) -> Steps:
        """Read a member of a call. Returns True if its first member follows, False after it."""
        key = yield from self._string()
        yield from self._skip(":")
        if key in ("arguments", "parameters", "args", "input"):
            if self._argued:
                self._say(",")  # a second time: the call fails in sight
            if (yield from self._starts('"', *("'" for _ in range(self.repair)))):
                text = yield from self._string()  # JSON inside a JSON string
                self._say(text if isinstance(text, str) else "")
                self._argued = True
            else:
                self._argued = yield from self._json(*close)
        elif key == "function" and (yield from self._starts("{")):
            return True  # its members are those of the call; the object is left with its bracket
        elif key in ("name", "id", "function", "tool"):
            value = yield from self._string()
            if isinstance(value, str) and key != "id" and self._named:
                self._say(value)  # a second name: the call fails in sight
            elif isinstance(value, str):
                self._named = self._named or key != "id"
                # Without a name it stays an error.
                fields: dict[str, Any] = {"id" if key == "id" else "name": value or None}
                self._say(**fields)
        else:
            yield from self._string()
        return False

    def _function(self) -> Steps:
        """Read a call from behind `<function=`. A parameter that was not closed ends where the next
        one begins, or the function ends."""
        name, _ = yield from self._until(">")
        self._call(name.strip().strip("\"'"))
        end = "</function>"
        yield from self._parameters("<parameter=", "</parameter>", end, "<parameter=", end)
        self._say(closed=True)

    def _parameters(self, opening: str, closing: str, last: str, *stops: str) -> Steps:
        """Read parameters that are written as XML, or as one JSON object, up to `last`; they become
        one JSON object. What is neither is passed on, so that the call fails in sight.

        `opening` is the beginning of a parameter's tag, before its name. `stops` end a parameter
        that was not closed.
        """
        if (yield from self._starts("{", opening, last)) == "{":
            yield from self._json(last)
            yield from self._rest(last)
            return
        written = 0
        while (mark := (yield from self._skip(opening, last))) == opening:
            tag, _ = yield from self._until(">")
            name = _attribute(tag) or tag.strip().partition(" ")[0].strip("\"'")
            self._say(("," if written else "{") + quoted(name) + ":")
            written += 1
            is_text = True if 'string="true"' in tag else None
            yield from self._value(closing, is_text, *stops)
        if mark is None:
            yield from self._rest(last)
        self._say("}" if written else "{}")

    def _value(self, closing: str, is_text: bool | None = None, *stops: str) -> Steps:
        """Read the text of a parameter as a JSON value; text that can only be a string is passed
        on as it comes. One line break at either end is not part of it."""
        while not (rest := self._text[self._at :].lstrip()) and len(self._text) < _MOST_SPACE:
            yield from self._more()
        ends = (closing, *stops)
        if (
            rest
            and is_text is None
            and (rest[0] in '"{[-0123456789tfnTFN' or closing.startswith(rest[0]))
        ):
            text, end = yield from self._until(*ends)
            self._at -= 0 if end == closing else len(end)
            self._say(_as_json(text))
            return
        if self._text.startswith("\n", self._at):
            self._at += 1
        self._say('"')
        while True:
            at, end = self._next(*ends)
            if end:
                upto = at - 1 if self._text.endswith("\n", self._at, at) else at
            else:
                upto = len(self._text) - self._overlap(*ends, *("\n" + it for it in ends))
            if upto > self._at:
                self._say(quoted(self._text[self._at : upto])[1:-1])
                self._at = upto
            if end:
                self._at = at + len(end) if end == closing else at
                self._say('"')
                return
            yield from self._more()


def _attribute(tag: str) -> str | None:
    """The `name` of a tag, in quotes of either kind or without; None if it has none."""
    match = re.search(r"""\bname\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", tag)
    return None if match is None else next((it for it in match.groups() if it is not None), None)


def _overlap(text: str, at: int, literal: str) -> int:
    """How many characters at the end of `text[at:]` may be the beginning of the literal."""
    for size in range(min(len(literal) - 1, len(text) - at), 0, -1):
        if text.endswith(literal[:size]):
            return size
    return 0


def _as_json(text: str) -> str:
    """A parameter's text as JSON: what is JSON already stays, anything else is a string."""
    stripped = text.strip()
    try:
        json.loads(stripped, parse_constant=_refuse)
    except (ValueError, RecursionError):
        named = {"True": "true", "False": "false", "None": "null"}
        plain = text.removeprefix("\n").removesuffix("\n")
        return named.get(stripped) or quoted(plain)
    return stripped


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


class ReasoningTags(TagReader):
    kind = "reasoning"

    def __init__(self, close: str) -> None:
        self._close = close
        super().__init__()

    def _script(self) -> Iterator[None]:
        yield from self._stream(self._close)
        self._say(closed=True)


class OpenReasoning(ReasoningTags):
    """Reasoning from the beginning of the text on: the prompt had its opening tag."""

    def _script(self) -> Iterator[None]:
        yield from self._skip("<think>")
        yield from super()._script()


class Json(TagReader):
    """A JSON value up to a closing tag, which counts only outside of strings."""

    kind = "json"

    def __init__(self, close: str) -> None:
        self._close = close
        super().__init__()

    def _script(self) -> Iterator[None]:
        yield from self._json(self._close)
        yield from self._until(self._close)
        self._say(closed=True)


class Fence(Json):
    """A fenced block: its first line names the language."""

    def __init__(self) -> None:
        super().__init__("```")

    def _script(self) -> Iterator[None]:
        yield from self._until("\n")
        yield from super()._script()


class Objects(TagReader):
    """Calls as JSON objects, one after another or in a list, up to a closing tag.

    Without `close` the section ends where no other call follows.
    """

    # What may be between calls.
    _between: ClassVar[tuple[str, ...]] = (",", ";")

    def __init__(self, *close: str) -> None:
        self._close = close
        super().__init__()

    def _script(self) -> Iterator[None]:
        in_list = (yield from self._skip("[")) == "["
        while True:
            mark = yield from self._starts("{", "]", *self._between, *self._close)
            if mark == "{":
                yield from self._object(*self._close, *self._breaks)
            elif mark in self._between:
                yield from self._skip(mark)
            elif mark == "]" and in_list:
                yield from self._skip(mark)
                if self._close:
                    yield from self._skip(*self._close)
                return
            elif mark is not None and mark in self._close:
                yield from self._skip(mark)
                return
            elif not self._close or self._calls:
                return
            else:
                yield from self._until(*self._close)
                return


class ToolCallTag(TagReader):
    """`<tool_call>`: an object (Hermes), a function tag (Qwen), or a name and pairs (GLM)."""

    def _script(self) -> Iterator[None]:
        yield from self._skip("```json", "```")
        mark = yield from self._starts("{", "[", "<function=")
        if mark in ("{", "["):
            yield from Objects._script(self)  # type: ignore[arg-type]
            return
        if mark == "<function=":
            while (yield from self._skip("<function=")):
                yield from self._function()
            yield from self._skip(_CALL_END)
            return
        yield from self._glm()

    _close = (_CALL_END,)
    _breaks = (_CALL,)
    _between = (*Objects._between, "```")

    def _glm(self) -> Iterator[None]:
        name, mark = yield from self._until("\n", "<arg_key>", _CALL_END)
        self._call(name.strip())
        written = 0
        while mark != _CALL_END:
            if mark == "<arg_key>":
                key, _ = yield from self._until("</arg_key>")
                yield from self._until("<arg_value>")
                self._say(("," if written else "{") + quoted(key.strip()) + ":")
                written += 1
                yield from self._value("</arg_value>")
            mark = yield from self._starts("<arg_key>", _CALL_END, _CALL)
            if mark is None:
                return  # malformed: the call stays open, and is truncated
            if mark == _CALL:
                break  # another call begins: this one has ended without its tag
            self._at += len(mark)
        self._say("}" if written else "{}", closed=True)


class Function(TagReader):
    """`<function=NAME>`: JSON (Llama) or parameters (Qwen), up to `</function>`."""

    def _script(self) -> Iterator[None]:
        yield from self._function()


class MistralTags(TagReader):
    """`[TOOL_CALLS]`: a list of objects, or NAME[ARGS]{…}, or NAME{…}."""

    def _script(self) -> Iterator[None]:
        if (yield from self._starts("[")):
            yield from Objects._script(self)  # type: ignore[arg-type]
            return
        name, mark = yield from self._until("[ARGS]", "[CALL_ID]", "{")
        id = None
        if mark == "[CALL_ID]":
            id, _ = yield from self._until("[ARGS]")
        elif mark == "{":
            self._at -= 1
        self._call(name.strip(), id and id.strip())
        yield from self._json("[TOOL_CALLS]")
        self._say(closed=True)

    _close = ()
    _between = Objects._between


class Llama(Objects):
    """`<|python_tag|>`: objects with a name and parameters."""

    def __init__(self) -> None:
        super().__init__("<|eom_id|>", "<|eot_id|>")

    def _script(self) -> Iterator[None]:
        while True:
            yield from self._object(*self._close)
            if (yield from self._skip(";", *self._close)) != ";":
                return


class DeepSeek(TagReader):
    """Calls between tags of their own: a type, a name and a fenced block, or a name and JSON."""

    def __init__(self, close: str) -> None:
        self._close = close
        super().__init__()

    def _script(self) -> Iterator[None]:
        begin, end = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
        while (yield from self._until(begin, self._close))[1] == begin:
            name, _ = yield from self._until("<｜tool▁sep｜>")
            if name.strip() == "function":
                name, _ = yield from self._until("\n")
            self._call(name.strip())
            fenced = yield from self._skip("```json", "```")
            yield from self._json(end)
            if fenced:
                yield from self._skip("```")
            yield from self._rest(end)
            self._say(closed=True)


class Kimi(TagReader):
    """Calls whose id is `functions.NAME:NUMBER`."""

    def _script(self) -> Iterator[None]:
        begin, close = "<|tool_call_begin|>", "<|tool_calls_section_end|>"
        while (yield from self._until(begin, close))[1] == begin:
            id, _ = yield from self._until("<|tool_call_argument_begin|>")
            name = re.sub(r"^functions\.|:\d+$", "", id.strip())
            self._call(name, id.strip())
            yield from self._json("<|tool_call_end|>")
            yield from self._rest("<|tool_call_end|>")
            self._say(closed=True)


class Invokes(TagReader):
    """`<invoke name="NAME">` with parameters; some models put a prefix before their tags."""

    def __init__(self, close: str, prefix: str = "") -> None:
        self._close = close
        self._prefix = prefix
        super().__init__()

    def _script(self) -> Iterator[None]:
        it, close = self._prefix, f"</{self._close}>"
        while (yield from self._until(f"<{it}invoke ", close))[1] != close:
            tag, _ = yield from self._until(">")
            self._call(_attribute(tag) or "")
            yield from self._parameters(f"<{it}parameter", f"</{it}parameter>", f"</{it}invoke>")
            self._say(closed=True)


class Pythonic(TagReader):
    """`[f(a=1), g()]`: calls as Python writes them, read when the list is complete."""

    def _script(self) -> Iterator[None]:
        while True:
            calls = self._calls_in(self._text)
            if calls is not None:
                break
            if len(self._text) > _MOST_PYTHON:
                raise _Over
            yield from self._more()
        for name, arguments in calls:
            self._call(name)
            self._say(arguments, closed=True)

    def _calls_in(self, text: str) -> list[tuple[str, str]] | None:
        """The calls of the shortest list that is complete; takes its text."""
        at = text.find("]")
        while at >= 0:
            try:
                tree = ast.parse("[" + text[: at + 1], mode="eval").body
                assert isinstance(tree, ast.List)
                calls = [_python_call(call) for call in tree.elts]
            except (
                SyntaxError,
                ValueError,
                TypeError,
                AssertionError,
                RecursionError,
                MemoryError,
            ):
                at = text.find("]", at + 1)
                continue
            self._at = at + 1
            return calls
        return None


def _python_call(call: ast.expr) -> tuple[str, str]:
    """Name and arguments of a call, as JSON; an error for what JSON has not."""
    assert isinstance(call, ast.Call) and not call.args
    arguments = {}
    for keyword in call.keywords:
        assert keyword.arg is not None and keyword.arg not in arguments
        arguments[keyword.arg] = ast.literal_eval(keyword.value)
    return ast.unparse(call.func), json.dumps(arguments, ensure_ascii=False, allow_nan=False)
