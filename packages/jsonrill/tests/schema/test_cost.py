"""The cost of typed values: linear in the text, and independent of lists outside the open path."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

from jsonrill import Document, updates, values
from jsonrill.schema import Schema
from support.costs import assert_flat, assert_linear

CALLS: list[int] = []


def count(value: int) -> int:
    CALLS.append(value)
    return value


class Row(BaseModel):
    id: Annotated[int, AfterValidator(count)]
    name: str


class Table(BaseModel):
    rows: list[Row]
    note: str = ""


def table(rows: int) -> str:
    return json.dumps({"rows": [{"id": n, "name": f"row {n}"} for n in range(rows)], "note": "end"})


def test_each_of_ten_thousand_models_is_validated_as_it_completes_and_with_the_whole() -> None:
    CALLS.clear()
    text = table(10_000)
    tables = list(values([text[at : at + 256] for at in range(0, len(text), 256)], Table))
    assert len(tables[-1].rows) == 10_000
    # The field, the row and the whole; the list does not validate its rows again.
    assert len(CALLS) <= 3 * 10_000


def test_a_check_does_not_depend_on_lists_outside_the_open_path() -> None:
    def start(rows: int) -> Callable[[], object]:
        document = Document()
        document.feed(table(rows)[:-2])
        check = Schema(Table).check()
        check.look(document.live, document.open_path)

        def step() -> None:
            document.feed("x")
            check.look(document.live, document.open_path)
            check.partial()

        return step

    assert_flat(start, small=20, large=20_000)


@pytest.mark.parametrize("schema", [Table, Table.model_json_schema()], ids=["type", "schema"])
def test_the_cost_is_linear_in_the_length_of_the_text(schema: Any) -> None:
    def work(rows: int) -> Callable[[], object]:
        text = table(rows)
        pieces = [text[at : at + 16] for at in range(0, len(text), 16)]
        return lambda: deque(updates(pieces, schema=schema), maxlen=0)

    assert_linear(work, 300)
