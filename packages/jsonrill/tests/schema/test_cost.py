"""What typed values cost: linear in the text, and independent of the lists beside the open path."""

from __future__ import annotations

import json
from time import process_time
from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel

from jsonrill import Document, updates, values
from jsonrill.schema import Schema

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


def test_a_look_does_not_grow_with_the_list_beside_it() -> None:
    def cost(rows: int) -> float:
        text = table(rows)[:-2]
        document = Document()
        document.feed(text)
        check = Schema(Table).check()
        check.look(document.live, document.open_path)
        start = process_time()
        for _ in range(200):
            document.feed("x")
            check.look(document.live, document.open_path)
            check.partial()
        return process_time() - start

    assert min(cost(20_000) for _ in range(3)) < 4 * min(cost(20) for _ in range(3)) + 0.01


@pytest.mark.parametrize("schema", [Table, Table.model_json_schema()], ids=["type", "schema"])
def test_ten_times_the_text_takes_about_ten_times_as_long(schema: object) -> None:
    def cost(rows: int) -> float:
        text = table(rows)
        start = process_time()
        for _ in updates([text[at : at + 16] for at in range(0, len(text), 16)], schema=schema):  # type: ignore[call-overload]
            pass
        return process_time() - start

    cost(10)
    assert min(cost(3000), cost(3000)) < 30 * max(min(cost(300) for _ in range(3)), 0.01)
