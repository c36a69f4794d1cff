"""A line of a log → a stream → a row: `rows`.

A line is one of these; the first that fits counts:

    {"id": …, "chunks": ["…", …]}                       pieces of text
    {"id": …, "events": [{…}, …]}                       a provider's events
    {"id": …, "text": "…"}                              the text, or an event stream as it came
    {"custom_id": …, "response": {"body": {…}}, …}      output of an OpenAI batch
    {"id": …, "call_type": …, "response": {…}, …}       a log of LiteLLM
    {"choices": […], …}                                 an answer that was not streamed
    anything else                                       the line is the text
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from jsonrill import Answer, JsonrillError, Limits, ToolCall, ToolCalls, loads, tool_calls, updates
from jsonrill.schema import Schema

Kind = Literal["values", "updates", "check", "calls"]
Row = dict[str, Any]
# The text of a stream, which may be an event stream, or a provider's events.
Stream = str | list[Any]

# A text of this size with so few brackets and no long number is within the library's limits.
_LONGEST: Final = 100_000
_MAX_BRACKETS: Final = 200
_LONGEST_NUMBER: Final = Limits().number
_LONG_NUMBER: Final = re.compile(rf"[-+.eE0-9]{{{_LONGEST_NUMBER + 1}}}")
# As a parser of constants, `int` refuses NaN and Infinity.
_decode: Final = json.JSONDecoder(parse_constant=int).decode


@dataclass(frozen=True)
class Job:
    """What to do with each stream of a log, and how to find it in a line.

    `values` returns the last value, `updates` the updates of its entities, `check` only whether the
    stream is valid, `calls` the tool calls. `schema` is a JSON Schema of the value, for `updates`
    of an entity, for `calls` a mapping from tool names to schemas.

    `field` and `id_field` are dotted paths to the stream and its id in a line. Without `field` the
    usual forms are recognised; `"."` says that each line is the text itself.
    """

    kind: Kind
    schema: Any = None
    field: str | None = None
    id_field: str = "id"
    provider: str = "auto"
    repair: bool = False
    mode: str | Mapping[str, str] = "ONE-BY-ONE"
    entity: Any = None


def rows(lines: Iterable[str | bytes], job: Job) -> Iterator[Row]:
    """Yield a row for each line that is not blank: the job's result for its stream, or an error.

    A row has `id`, `status` (`complete`, `cut` or `invalid`) and, by the job, `value`, `updates` or
    `calls`. It has `error`, `repairs` and `usage` if there are any. Nothing in a line raises; a
    wrong option of the job is a `ValueError` or a `TypeError`.
    """
    reader = Reader(job)
    for line in lines:
        if line and not line.isspace():
            yield reader.read(line)


class Reader:
    """Reads the streams of a log for one job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._schema: Any = None
        if job.schema is not None and job.kind == "calls":
            self._schema = {tool: Schema(schema) for tool, schema in dict(job.schema).items()}
        elif job.schema is not None:
            self._schema = Schema(job.schema)
        with suppress(JsonrillError):  # a wrong option raises something else
            self._read_stream("null", {})

    def read(self, line: str | bytes) -> Row:
        """Return the row of a line."""
        job = self._job
        row: Row = {"id": None, "status": "complete"}
        try:
            row["id"], stream = find_stream(line, job)
            if not self._read_plain(stream, row):
                self._read_stream(stream, row)
        except JsonrillError as error:
            row.setdefault("error", error.to_dict())
            if job.kind == "values":
                row["value"] = error.value
        except Exception as error:  # a mistake in a reader must not lose the other lines
            row["error"] = {"code": "READER_FAILED", "message": f"{type(error).__name__}: {error}"}
        if job.kind == "check":
            row.pop("value", None)
        if "error" in row:
            is_cut = row["error"]["code"] == "TRUNCATED" or "reason" in row["error"]
            row["status"] = "cut" if is_cut else "invalid"
        return row

    def _read_plain(self, stream: Stream, row: Row) -> bool:
        """Read a small text that is valid as a whole, six times as fast as the library does."""
        is_value = self._job.kind in ("values", "check")
        if is_value and isinstance(stream, str) and _is_small(stream):
            try:
                value = _decode(stream)
                row["value"] = value if self._schema is None else self._schema.validate(value)
            except ValueError:  # the library says what is wrong
                pass
        return "value" in row

    def _read_stream(self, stream: Stream, row: Row) -> None:
        """Add the job's result for a stream, its repairs and its usage to a row."""
        job, answer = self._job, Answer()
        options: dict[str, Any] = {"provider": job.provider, "repair": job.repair, "answer": answer}
        options["on_repair"] = lambda repair: row.setdefault("repairs", []).append(repair._asdict())
        options["sse"] = isinstance(stream, str) and stream.startswith(("data:", "event:"))
        try:
            match job.kind:
                case "values" | "check":
                    row["value"] = loads(stream, self._schema, **options)
                case "updates":
                    self._read_updates(stream, row, options)
                case "calls":
                    self._read_calls(stream, row, options)
                case kind:
                    raise ValueError(f"a job must be values, updates, check or calls, not {kind!r}")
        finally:
            if answer.usage is not None:
                row["usage"] = answer.usage

    def _read_updates(self, stream: Stream, row: Row, options: dict[str, Any]) -> None:
        job, mode = self._job, cast(Any, self._job.mode)
        row["updates"] = []
        for update in updates(stream, mode, schema=self._schema, entity=job.entity, **options):
            row["updates"].append(update.to_dict())
            if update.error is not None:
                row.setdefault("error", update.error)

    def _read_calls(self, stream: Stream, row: Row, options: dict[str, Any]) -> None:
        answer = options.pop("answer")
        del options["sse"]
        calls = ToolCalls(schemas=self._schema, **options)
        try:
            deque(tool_calls(stream, calls=calls, answer=answer), maxlen=0)
        finally:
            row["calls"] = [_call_row(call) for call in calls.calls]
            for failure in filter(None, map(_call_error, calls.calls)):
                row.setdefault("error", failure)


def _is_small(text: str) -> bool:
    """Return whether a valid text is within the library's limits."""
    brackets = text.count("[") + text.count("{")
    has_long_number = len(text) > _LONGEST_NUMBER and _LONG_NUMBER.search(text)
    return len(text) <= _LONGEST and brackets <= _MAX_BRACKETS and not has_long_number


def _call_row(call: ToolCall) -> Row:
    fields = {name: getattr(call, name) for name in ("id", "name", "status", "args", "error")}
    return {name: value for name, value in fields.items() if value is not None}


def _call_error(call: ToolCall) -> Any:
    cut = {"code": "TRUNCATED", "message": f"the call {call.id} was cut"}
    return call.error or (cut if call.status == "truncated" else None)


# ---- a line → a stream ----


class LineError(JsonrillError):
    """A line has no stream that can be read; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def find_stream(line: str | bytes, job: Job) -> tuple[Any, Stream]:
    """Return the id and the stream in a line."""
    try:
        text = line.decode() if isinstance(line, bytes) else line
    except UnicodeDecodeError as error:
        raise LineError("BAD_LINE", f"not UTF-8: {error.reason} at byte {error.start}") from None
    try:
        value = None if job.field == "." else json.loads(text)
    except (ValueError, RecursionError):
        value = None
    id = _lookup(value, job.id_field)
    if job.field in (None, "."):
        id, source = _find(value, id, text)
    elif (source := _lookup(value, job.field)) is None:
        raise LineError("BAD_LINE", f"the line is not JSON with something at {job.field}")
    return id, _as_stream(source)


def _find(line: Any, id: Any, text: str) -> tuple[Any, Any]:
    """Return the id and the stream of a line; its text if the line has another form."""
    match line:
        case {"chunks": source} | {"events": source} | {"text": source}:
            return id, source
        case {"custom_id": custom_id, "response": {"body": dict(body)}}:
            if line["response"].get("status_code", 200) >= 400:
                raise _request_failed(body)
            return custom_id, body
        case {"call_type": _, "response": dict(response)} if line.get("status") != "failure":
            return id or line.get("request_id"), response
        case {"custom_id": _, "response": _} | {"call_type": _, "response": _}:
            raise _request_failed(line.get("error") or line.get("error_str"))
    is_answer = isinstance(line, dict) and _answer_events(line) is not None
    return (id, line) if is_answer else (None, text.strip())


def _as_stream(source: Any) -> Stream:
    if isinstance(source, list) and {*map(type, source)} <= {str}:
        return "".join(source)
    if isinstance(source, dict):
        source = _answer_events(source)
    if not isinstance(source, (str, list)):
        raise LineError("BAD_LINE", "a stream is a text, a list or a known provider's answer")
    return source


def _answer_events(answer: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the events of an answer that was not streamed; None if it is not an answer."""
    match answer:
        case {"choices": list()}:
            return [answer]
        case {"type": "message", "content": list()}:
            return [{"type": "message_start", "message": answer}, {"type": "message_stop"}]
        case {"object": "response", "output": list()}:
            return [{"type": f"response.{answer.get('status', 'completed')}", "response": answer}]
    return None


def _request_failed(error: Any) -> LineError:
    while isinstance(error, dict):
        error = error.get("error") or error.get("message")
    message = f"the request failed: {error}" if error else "the request has no answer"
    return LineError("REQUEST_FAILED", message)


def _lookup(value: Any, path: str) -> Any:
    for key in path.split("."):
        try:
            value = value[int(key) if isinstance(value, list) else key]
        except (LookupError, TypeError, ValueError):
            return None
    return value
