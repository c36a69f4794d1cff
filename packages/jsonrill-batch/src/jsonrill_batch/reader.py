"""A stream → a row: `rows`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from jsonrill import Answer, JsonrillError, ToolCalls, tool_calls, updates, values
from jsonrill.schema import Schema

from .errors import ReaderFailed
from .job import Job
from .record import Record, read_record

Row = dict[str, Any]

# No text of this size with so few brackets passes a limit on the depth, the keys or the text.
_LONGEST: Final = 100_000
_MOST_BRACKETS: Final = 200
# A number above the limit of 400 characters covers two samples of every 200th character.
_STEP: Final = 200
_NUMBER: Final = re.compile("[-+.0-9eE]{2}")


def rows(lines: Iterable[str | bytes | JsonrillError], job: Job) -> Iterator[Row]:
    """Yield a row for each line that is not blank: what the job makes of its stream, or its error.

    A row has `id`, `status` (`complete`, `cut` or `invalid`) and, by the job, `value`, `updates` or
    `calls`. It has `error`, `repairs` and `usage` if there are any. An error in place of a line
    becomes a row, too. Nothing in a line raises; a wrong option of the job is a `ValueError` or a
    `TypeError`.
    """
    reader = Reader(job)
    for line in lines:
        if isinstance(line, JsonrillError):
            yield _error_row(None, line)
        elif line and not line.isspace():
            yield reader.read(line)


class Reader:
    """Reads the streams of a log for one job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        readers = {"updates": self._read_updates, "calls": self._read_calls}
        self._read_stream = readers.get(job.kind, self._read_value)
        self._schema, self._is_valid = _compile(job)
        self._read_stream(Record(None, ""))  # raises if an option is wrong

    def read(self, line: str | bytes) -> Row:
        """Return the row of a line."""
        id = None
        try:
            record = read_record(line, self._job)
            id = record.id
            return self._read_stream(record)
        except JsonrillError as error:
            return _error_row(id, error)
        except Exception as error:  # a mistake in a reader must not lose the other lines
            return _error_row(id, ReaderFailed(f"{type(error).__name__}: {error}"))

    def _read_value(self, record: Record) -> Row:
        shows_value = self._job.kind == "values"
        is_valid, value = self._decode(record.source)
        if is_valid:
            row = {"id": record.id, "status": "complete"}
            if shows_value:
                row["value"] = value
            return row
        schema, error = self._schema, None
        answer, repairs, options = self._options(record)
        try:
            for value in values(record.source, schema, live=schema is None, **options):  # noqa: B007
                pass
        except JsonrillError as failure:
            value, error = failure.value, failure.to_dict()
        found = {"value": value} if shows_value else {}
        return _row(record.id, found, error, repairs, answer)

    def _decode(self, source: str | list[Any]) -> tuple[bool, Any]:
        """Return whether the text is valid as a whole, and its value.

        Most streams are. Reading short texts in the library takes six times as long.
        """
        if type(source) is str and _is_within_limits(source):
            try:
                value = _DECODE(source)
                return self._is_valid is None or self._is_valid(value), value
            except (ValueError, RecursionError):
                pass
        return False, None

    def _read_updates(self, record: Record) -> Row:
        job = self._job
        answer, repairs, options = self._options(record)
        options |= {"schema": self._schema, "entity": job.entity, "send": job.send}
        found: list[Any] = []
        error: Any = None
        try:
            for update in updates(record.source, job.mode, **options):  # type: ignore[arg-type]
                found.append(update.to_dict())
                error = error or update.error
        except JsonrillError as failure:
            error = failure.to_dict()
        return _row(record.id, {"updates": found}, error, repairs, answer)

    def _read_calls(self, record: Record) -> Row:
        job, answer, error = self._job, Answer(), None
        calls = ToolCalls(job.provider, schemas=self._schema, repair=job.repair)
        try:
            for _ in tool_calls(record.source, calls=calls, answer=answer):
                pass
        except JsonrillError as failure:
            error = failure.to_dict()
        found = []
        for call in calls.calls:
            shown = {key: getattr(call, key) for key in ("id", "name", "status", "args", "error")}
            found.append({key: value for key, value in shown.items() if value is not None})
            if call.status == "truncated" and call.error is None:
                error = error or {"code": "TRUNCATED", "message": f"the call {call.id} was cut"}
            error = error or call.error
        return _row(record.id, {"calls": found}, error, calls.repairs, answer)

    def _options(self, record: Record) -> tuple[Answer, list[Any], dict[str, Any]]:
        """Return what collects the usage and the repairs, and the options of the library."""
        answer = Answer()
        repairs: list[Any] = []
        options = {"answer": answer, "sse": record.is_sse, "provider": self._job.provider}
        if self._job.repair:
            options |= {"repair": True, "on_repair": repairs.append}
        return answer, repairs, options


def _compile(job: Job) -> tuple[Any, Callable[[Any], bool] | None]:
    """Return the schema for the library, and a function that judges a complete value."""
    if job.schema is None:
        return None, None
    if job.kind == "calls":
        return {tool: Schema(schema) for tool, schema in job.schema.items()}, None
    schema = Schema(job.schema)
    if job.kind == "updates":
        return schema, None
    import jsonschema_rs

    return schema, jsonschema_rs.validator_for(job.schema).is_valid


def _is_within_limits(text: str) -> bool:
    return (
        len(text) <= _LONGEST
        and text.count("[") + text.count("{") <= _MOST_BRACKETS
        and _NUMBER.search(text[::_STEP]) is None
    )


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODE: Final = json.JSONDecoder(parse_constant=_refuse).decode


def _row(id: Any, found: Row, error: Any, repairs: list[Any], answer: Answer) -> Row:
    row = {"id": id, "status": "complete", **found}
    if error is not None:
        is_cut = error["code"] == "TRUNCATED" or "reason" in error
        row |= {"status": "cut" if is_cut else "invalid", "error": error}
    if repairs:
        row["repairs"] = [repair._asdict() for repair in repairs]
    if answer.usage is not None:
        row["usage"] = answer.usage
    return row


def _error_row(id: Any, error: JsonrillError) -> Row:
    return {"id": id, "status": "invalid", "error": error.to_dict()}
