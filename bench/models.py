"""The shapes as pydantic models, for rivals that must be told beforehand what will come."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from typing_extensions import TypedDict

from .contestants import Unfit


class Tool(BaseModel):
    location: str
    unit: str
    days: int


class Source(BaseModel):
    name: str
    year: int
    pages: list[int]
    note: str | None


class Section(BaseModel):
    id: int
    heading: str
    body: str
    score: float
    reviewed: bool
    tags: list[str]
    source: Source


class Report(BaseModel):
    title: str
    summary: str
    language: str
    sections: list[Section]
    count: int


class Answer(BaseModel):
    answer: str


class Lines(BaseModel):
    lines: list[str]


def model_for(text: str) -> type[BaseModel]:
    value: Any = json.loads(text)
    for model in (Tool, Report, Answer, Lines):
        if isinstance(value, dict) and set(value) == set(model.model_fields):
            return model
    raise Unfit("it reads objects of a declared model")


class SourceSoFar(TypedDict, total=False):
    name: str
    year: int
    pages: list[int]
    note: str | None


class SectionSoFar(TypedDict, total=False):
    id: int
    heading: str
    body: str
    score: float
    reviewed: bool
    tags: list[str]
    source: SourceSoFar


class ReportSoFar(TypedDict, total=False):
    """A report of which parts may be missing, for partial validation."""

    title: str
    summary: str
    language: str
    sections: list[SectionSoFar]
    count: int
