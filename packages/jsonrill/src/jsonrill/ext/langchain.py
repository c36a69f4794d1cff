"""An output parser for LangChain, in place of its `JsonOutputParser`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import JsonOutputParser as _JsonOutputParser
from langchain_core.outputs import Generation

from .. import JsonrillError, Update, updates, values

__all__ = ["JsonOutputParser"]


class JsonOutputParser(_JsonOutputParser):
    """Parses each piece once, reads near-JSON, and raises at the first wrong character.

    With `pydantic_object` the answer is validated while it streams; values are plain, or with
    `typed=True` instances of it, partial ones on the way. `diff=True` yields JSON Patch operations.
    """

    typed: bool = False

    def _read(self, source: Any) -> Any:
        if self.pydantic_object is None:
            return values(source, repair=True)
        if self.typed:
            return values(source, self.pydantic_object, repair=True)
        return updates(source, schema=self.pydantic_object, repair=True)

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[Any]:
        previous = None
        with _raising():
            for item in self._read(input):
                yield self._diff(previous, _value(item)) if self.diff else _value(item)
                previous = _value(item)

    async def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[Any]:
        previous = None
        with _raising():
            async for item in self._read(input):
                yield self._diff(previous, _value(item)) if self.diff else _value(item)
                previous = _value(item)

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        try:
            with _raising(result[0].text):
                values = [_value(item) for item in self._read(result[0].text)]
        except OutputParserException:
            if partial:
                return None
            raise
        return values[-1] if values else None


def _value(item: Any) -> Any:
    if not isinstance(item, Update):
        return item
    if item.error is not None:
        raise OutputParserException(item.error["message"])
    return item.data


@contextmanager
def _raising(text: str | None = None) -> Iterator[None]:
    """Raise LangChain's exception in place of ours."""
    try:
        yield
    except JsonrillError as error:
        raise OutputParserException(f"Invalid json output: {error}", llm_output=text) from error
