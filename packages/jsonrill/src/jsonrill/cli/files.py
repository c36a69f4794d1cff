"""Input files, output lines, and errors as one line on standard error.

A terminal executes control characters, and a model may write any. On a terminal they are written
as JSON escapes. Every line is flushed, so that the next program in a pipe gets it at once.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, Final

import typer

from ..errors import JsonrillError, LimitExceeded, Problem
from ..fragment import Fragment
from ..jsontext import dumps

_BLOCK: Final = 1 << 16
# Control characters except tab and newline, and characters that change the text direction.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


def safe(text: str) -> str:
    """Return text with the characters that control a terminal written as JSON escapes."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


class BadInput(Exception):
    """The input cannot be read: one line on standard error, exit code 1."""


class BadOutput(Exception):
    """The output cannot be written: one line on standard error, exit code 1."""


@dataclass
class Input:
    """One file ("-" is standard input), cut into pieces of `tokens` bytes if that is set."""

    name: str = "-"
    tokens: int = 0
    delay: float = 0.0

    def pieces(self) -> Iterator[bytes]:
        """Return the text as it arrives, or cut and delayed as a model would send it."""
        # read1 returns what a pipe holds now, instead of waiting for a full block.
        for block in self._read(lambda file: iter(lambda: file.read1(_BLOCK), b"")):
            size = self.tokens or (4 if self.delay else len(block))
            for at in range(0, len(block), size):
                yield block[at : at + size]
                time.sleep(self.delay / 1000)

    def lines(self) -> Iterator[bytes]:
        """Return the lines that are not empty."""
        lines = self._read(iter)
        return filter(bytes.strip, (line.removeprefix(BOM_UTF8) for line in lines))

    def _read(self, parts: Callable[[Any], Iterator[bytes]]) -> Iterator[bytes]:
        is_empty = True
        try:
            with self._open() as file:
                for part in parts(file):
                    is_empty = is_empty and not part.strip(b" \t\r\n\xef\xbb\xbf")
                    yield part
        except OSError as error:
            raise BadInput(error.strerror) from error
        if is_empty:
            raise BadInput("the input is empty")

    def _open(self) -> Any:
        if self.name != "-":
            return open(self.name, "rb")
        if sys.stdin is None:
            raise BadInput("standard input is closed")
        return nullcontext(sys.stdin.buffer)


class Output:
    """Writes one JSON value a line to standard output."""

    def __init__(self, pretty: bool) -> None:
        self._pretty = pretty
        self.is_terminal = sys.stdout is not None and sys.stdout.isatty()

    def write(self, value: Any) -> None:
        """Write a value: compact on its own line, or indented."""
        text = json.dumps(value, ensure_ascii=False, indent=2) if self._pretty else dumps(value)
        self.write_text((safe(text) if self.is_terminal else text) + "\n")

    def write_all(self, items: Iterable[Any]) -> None:
        """Write values, or fragments in their wire form, as they come."""
        for item in items:
            self.write(item.to_dict() if isinstance(item, Fragment) else item)

    def write_text(self, text: str) -> None:
        """Write text unchanged, at once."""
        if sys.stdout is None:
            raise BadOutput("standard output is closed")
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            raise BadOutput(f"standard output: {error.strerror}") from error


def write_utf8() -> None:
    """Write UTF-8 to files and pipes in any locale, and the terminal's encoding to a terminal."""
    if isinstance(sys.stdout, TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def process(inputs: list[Input], work: Callable[[Input], None]) -> None:
    """Run `work` for each file. Exit with 1 if one of them is bad, and with 130 after Ctrl-C."""
    is_good = True
    try:
        for file in inputs:
            try:
                work(file)
            except (JsonrillError, BadInput) as error:
                is_good = False
                name = "standard input" if file.name == "-" else safe(file.name)
                place = "" if len(inputs) == 1 and file.name == "-" else f"{name}: "
                report(f"{place}{_line(error)}")
    except BadOutput as error:
        # The interpreter would report the error again when it closes standard output.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error.__cause__, BrokenPipeError):
            return
        report(str(error))
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if not is_good:
        raise typer.Exit(1)


def report(line: str) -> None:
    text = " ".join(line.split()).encode("utf-8", "backslashreplace").decode()
    typer.echo(f"jsonrill: {text}", err=True)


def _line(error: Exception) -> str:
    if not isinstance(error, JsonrillError):
        return str(error)
    text = error.problem + place_of(error.to_dict())
    if isinstance(error, LimitExceeded) and error.limit not in ("number", "event"):
        text += f"; allow more with --limit {error.limit}=N"
    return text


def place_of(problem: Problem) -> str:
    if "line" not in problem:
        return ""
    return f" (line {problem['line']}, column {problem['column']})"
