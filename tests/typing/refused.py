"""mypy refuses each line that has a comment, which is the code of its error."""

from __future__ import annotations

import jsonrill

jsonrill.values("{}", repiar=True)  # call-overload
jsonrill.values("{}", repair=5)  # call-overload
jsonrill.values(5)  # call-overload
jsonrill.partial("{}", repiar=True)  # call-arg
jsonrill.fragments("{}", duplicates="first")  # call-overload
jsonrill.updates("{}", "REALTIM")  # call-overload
jsonrill.updates("{}", mode="realtime")  # call-overload
jsonrill.updates("{}", entitiy="days")  # call-overload
jsonrill.updates("{}", send="all")  # call-overload
jsonrill.chunks([], eagre=True)  # call-overload
jsonrill.chunks([], null="none")  # call-overload
jsonrill.tool_calls([], provder="auto")  # call-overload
jsonrill.PartialStream("REALTIM")  # arg-type
jsonrill.Document(repiar=True)  # call-arg
