"""Runs a job on lines: rows out, a summary at the end; no files, no engines.

Only one line and its rows are in memory at a time. A bad line never stops the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jsonrill.jsontext import dumps

from .errors import BadRecord, Skipped
from .input.line import Line, too_long
from .input.record import read_line
from .job import Job
from .operations import Work
from .output.summary import Summary, add_counts
from .output.tally import Tally

Write = Callable[[str], object]


def discard(text: str) -> None:
    """Drop the text."""


def process_shard(
    lines: Iterable[str | bytes | Line],
    job: Job,
    write: Write = discard,
    quarantine: Write = discard,
) -> Summary:
    """Run a job on each line: `write` gets the rows, `quarantine` the lines that are no streams.

    Both get JSON text, in the order of the lines. Whatever is in the lines, only `write`,
    `quarantine` and the source can raise; wrong options of the job are a `ValueError`.
    """
    return process_lines(_lines(lines, job.max_line), job, write, quarantine)


def process_lines(
    lines: Iterable[Line], job: Job, write: Write = discard, quarantine: Write = discard
) -> Summary:
    """The same for lines that have their positions."""
    work = Work(job)
    summary = Summary()
    whole = work.whole_lines(summary)
    for line in lines:
        summary.lines += 1
        summary.bytes += line.size
        quick = None if whole is None or line.fault is not None else whole.row(line)
        if quick is not None:
            write(quick)
            continue
        before = summary.rows
        try:
            for row in _rows(line, work, summary):
                write(row)
                summary.rows += 1
        except Skipped as skipped:
            add_counts(summary.skipped, {str(skipped): 1})
        except BadRecord as bad:
            add_counts(summary.quarantined, {bad.code: 1})
            quarantine(_quarantined(line, bad, job.keep, summary.rows - before))
    if whole is not None:
        whole.count()
    return summary


def _quarantined(line: Line, bad: BadRecord, keep: int, rows: int) -> str:
    """The quarantine's row for a line: where it is, why it is there, and its first `keep` bytes.

    Bytes that are not UTF-8 are kept as Python's `surrogateescape` keeps them.
    """
    text = line.text[:keep]
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    shown: dict[str, Any] = {
        "file": line.file,
        "line": line.number,
        "offset": line.offset,
        "size": line.size,
        "code": bad.code,
        "message": str(bad),
        "rows": rows or None,
        "text": text,
        "cut": len(line.text) > keep or bad.code == "TOO_LONG" or None,
    }
    return dumps({name: value for name, value in shown.items() if value is not None})


def _rows(line: Line, work: Work, summary: Summary) -> Iterator[str]:
    """The rows of one line; anything that fails in here is a `BadRecord` of this line alone."""
    if line.fault is not None:
        raise line.fault
    if not line.text.strip():
        return
    try:
        stream = read_line(line.text, work.job, line.label)
        tally = Tally(stream)
        yield from work.rows(stream, tally)
        tally.count(summary)
    except (BadRecord, Skipped):
        raise
    except Exception as error:  # one stream that makes a stage fail must not lose the others
        raise BadRecord("FAILED", f"{type(error).__name__}: {error}") from error


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
