"""A stream → a row: `rows`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, cast

from jsonrill import Answer, JsonrillError, Limits, ToolCall, ToolCalls, tool_calls, updates, values
from jsonrill.schema import Schema

from .job import Job
from .record import Record, read_record

Row = dict[str, Any]

# A text of this size with so few brackets is within the library's limits if its numbers are.
_LONGEST: Final = 100_000
_MOST_BRACKETS: Final = 200
_LONGEST_NUMBER: Final = Limits().number


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
        self._is_valid = None
        if job.schema is not None and job.kind == "calls":
            self._schema = {tool: Schema(schema) for tool, schema in job.schema.items()}
        elif job.schema is not None:
            import jsonschema_rs

            self._schema = Schema(job.schema)
            self._is_valid = jsonschema_rs.validator_for(job.schema).is_valid
        with suppress(JsonrillError):  # a wrong option raises something else
            self._read_stream(Record(None, "null"), {}, Answer(), [])

    def read(self, line: str | bytes) -> Row:
        """Return the row of a line."""
        row: Row = {"id": None, "status": "complete"}
        answer = Answer()
        repairs: list[Any] = []
        try:
            record = read_record(line, self._job)
            row["id"] = record.id
            self._read_stream(record, row, answer, repairs)
        except JsonrillError as error:
            row.setdefault("error", error.to_dict())
            if self._job.kind == "values":
                row["value"] = error.value
        except Exception as error:  # a mistake in a reader must not lose the other lines
            message = f"{type(error).__name__}: {error}"
            row["error"] = {"code": "READER_FAILED", "message": message}
        if "error" in row:
            is_cut = row["error"]["code"] == "TRUNCATED" or "reason" in row["error"]
            row["status"] = "cut" if is_cut else "invalid"
        if repairs:
            row["repairs"] = [repair._asdict() for repair in repairs]
        if answer.usage is not None:
            row["usage"] = answer.usage
        return row

    def _read_stream(self, record: Record, row: Row, answer: Answer, repairs: list[Any]) -> None:
        """Add the job's result for a stream to a row."""
        job = self._job
        options: dict[str, Any] = {"answer": answer, "provider": job.provider}
        options |= {"repair": job.repair, "on_repair": repairs.append}
        if job.kind == "calls":
            row["calls"] = []
            self._read_calls(record, row, options)
        elif job.kind == "updates":
            row["updates"] = []
            self._read_updates(record, row, options)
        else:
            value = self._read_value(record, options)
            row |= {"value": value} if job.kind == "values" else {}

    def _read_value(self, record: Record, options: dict[str, Any]) -> Any:
        # Most texts are valid as a whole, and the library takes six times as long for short ones.
        text = record.source if isinstance(record.source, str) else ""
        if len(text) <= _LONGEST and text.count("[") + text.count("{") <= _MOST_BRACKETS:
            with suppress(ValueError):
                value = _DECODE(text)
                if self._is_valid is None or self._is_valid(value):
                    return value
        schema, value, is_live = self._schema, None, self._schema is None
        for value in values(record.source, schema, live=is_live, sse=record.is_sse, **options):  # noqa: B007
            pass
        return value

    def _read_updates(self, record: Record, row: Row, options: dict[str, Any]) -> None:
        job, mode = self._job, cast(Any, self._job.mode)
        options |= {"schema": self._schema, "entity": job.entity, "send": job.send}
        for update in updates(record.source, mode, sse=record.is_sse, **options):
            row["updates"].append(update.to_dict())
            if update.error is not None:
                row.setdefault("error", update.error)

    def _read_calls(self, record: Record, row: Row, options: dict[str, Any]) -> None:
        answer = options.pop("answer")
        calls = ToolCalls(schemas=self._schema, **options)
        try:
            for _ in tool_calls(record.source, calls=calls, answer=answer):
                pass
        finally:
            for call in calls.calls:
                row["calls"].append(_call_row(call))
                if failure := _call_error(call):
                    row.setdefault("error", failure)


def _call_row(call: ToolCall) -> Row:
    fields = {name: getattr(call, name) for name in ("id", "name", "status", "args", "error")}
    return {name: value for name, value in fields.items() if value is not None}


def _call_error(call: ToolCall) -> Any:
    if call.status == "truncated" and call.error is None:
        return {"code": "TRUNCATED", "message": f"the call {call.id} was cut"}
    return call.error


def _integer(text: str) -> int:
    return _refuse(text) if len(text) > _LONGEST_NUMBER else int(text)


def _number(text: str) -> float:
    return _refuse(text) if len(text) > _LONGEST_NUMBER else float(text)


def _refuse(text: str) -> Any:
    raise ValueError(f"the library has to judge {text}")


_DECODE: Final = json.JSONDecoder(
    parse_int=_integer, parse_float=_number, parse_constant=_refuse
).decode
