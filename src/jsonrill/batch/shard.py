"""Lines in, rows out, a summary at the end: the work itself, pure, without files or engines.

Memory is bounded by one line and what is made of it. One bad line never stops the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..jsontext import dumps
from .errors import BadRecord
from .input.line import Line, too_long
from .input.record import read_line
from .job import Job
from .operations import Work
from .output.summary import Summary
from .output.tally import Tally

Write = Callable[[str], object]


def nowhere(text: str) -> None:
    """Keeps nothing."""


def process_shard(
    lines: Iterable[str | bytes | Line],
    job: Job,
    write: Write = nowhere,
    quarantine: Write = nowhere,
) -> Summary:
    """Do a job on each line: `write` gets the rows, `quarantine` the lines that are no streams.

    Both get JSON text, in the order of the lines. Whatever the lines are, nothing is raised but
    what `write` and `quarantine` raise, and the source; wrong options of a job are a `ValueError`.
    """
    work = Work(job)
    summary = Summary()
    for line in _lines(lines, job.max_line):
        summary.lines += 1
        summary.bytes += line.size
        try:
            written = _process(line, work, summary, write)
        except BadRecord as bad:
            code, message, written = bad.code, str(bad), 0
        except _Broken as broken:
            code, message, written = "FAILED", str(broken), broken.rows
        else:
            continue
        summary.quarantined[code] = summary.quarantined.get(code, 0) + 1
        quarantine(quarantined(line, code, message, job.keep, written))
    return summary


def quarantined(line: Line, code: str, message: str, keep: int, rows: int = 0) -> str:
    """A line that is no stream, with what is known of it.

    Bytes that are no UTF-8 are kept as Python's `surrogateescape` keeps them.
    """
    text = line.text[:keep]
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    shown: dict[str, Any] = {
        "file": line.file,
        "line": line.number,
        "offset": line.offset,
        "size": line.size,
        "code": code,
        "message": message,
        "rows": rows or None,
        "text": text,
        "cut": len(line.text) > keep or code == "TOO_LONG" or None,
    }
    return dumps({name: value for name, value in shown.items() if value is not None})


class _Broken(Exception):
    """Something broke in the middle of a stream, after some rows were written."""

    def __init__(self, cause: Exception, rows: int) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.rows = rows


def _process(line: Line, work: Work, summary: Summary, write: Write) -> int:
    """The rows that were written of this line."""
    if line.fault is not None:
        raise line.fault
    if not line.text.strip():
        return 0
    written = 0
    for row in _rows(line, work, summary):
        if isinstance(row, Exception):
            raise _Broken(row, written) from row
        write(row)
        written += 1
        summary.rows += 1
    return written


def _rows(line: Line, work: Work, summary: Summary) -> Iterator[str | Exception]:
    """The rows; what breaks is handed over, so that it is not taken for a failure to write."""
    try:
        stream = read_line(line.text, work.job, line.name or f"line {line.number}")
        tally = Tally(stream)
        yield from work.rows(stream, tally)
        tally.count(summary)
    except BadRecord:
        raise
    except Exception as error:  # a stage that fails on one stream must not lose the others
        yield error


def _lines(lines: Iterable[str | bytes | Line], max_line: int) -> Iterator[Line]:
    offset: int | None = 0
    for number, line in enumerate(lines, start=1):
        if isinstance(line, Line):
            yield line
            continue
        if isinstance(line, str):
            offset = None  # counting bytes would mean encoding it
        text = line.rstrip("\r\n") if isinstance(line, str) else line.rstrip(b"\r\n")
        fault = too_long(len(line), max_line) if len(text) > max_line else None
        yield Line(text, number, offset, len(line), fault=fault)
        if offset is not None:
            offset += len(line)
