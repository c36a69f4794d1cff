"""mypy refuses each line that has a comment, which is the code of its error."""

from __future__ import annotations

from pydantic import BaseModel

import jsonrill


class Trip(BaseModel):
    title: str


jsonrill.values("{}", repiar=True)  # call-overload
jsonrill.values("{}", repair=5)  # call-overload
jsonrill.values(5)  # call-overload
jsonrill.partial("{}", repiar=True)  # call-arg
jsonrill.fragments("{}", many=True)  # call-overload
jsonrill.updates("{}", "REALTIM")  # call-overload
jsonrill.updates("{}", mode="realtime")  # call-overload
jsonrill.updates("{}", entitiy="days")  # call-overload
jsonrill.updates("{}", send="all")  # call-overload
jsonrill.chunks([], eagre=True)  # call-overload
jsonrill.chunks([], null="none")  # call-overload
jsonrill.tool_calls([], provder="auto")  # call-overload
jsonrill.PartialStream("REALTIM")  # arg-type
jsonrill.Document(repiar=True)  # call-arg
jsonrill.values("{}", Trip, repiar=True)  # call-overload
jsonrill.values("{}", Trip(title=""))  # call-overload
jsonrill.values("{}", "Trip")  # call-overload
jsonrill.fields("{}")  # call-overload
jsonrill.updates("{}", "REALTIME", Trip)  # call-overload
jsonrill.updates("{}", schema=Trip, models="partial")  # call-overload
print(next(jsonrill.values("{}", Trip)).titel)  # attr-defined
jsonrill.values("{}", Trip, missing="zeros")  # call-overload
jsonrill.values("{}", Trip, answer={})  # call-overload
print(next(iter(jsonrill.parts([]))).call.name)  # union-attr
print(next(jsonrill.fields("{}", Trip))[1].title)  # attr-defined
print(jsonrill.Truncated().value.title)  # attr-defined
print(jsonrill.Truncated().to_dict()["mesage"])  # typeddict-item
