"""Numbered requests of producers: the headers Producer-Id, Producer-Epoch and Producer-Seq.

A request that is sent again adds nothing, and a producer that was restarted shuts out its
predecessor.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request

from ..problems import Problem
from ..store import Turn, TurnRefused

HEADERS: Final = ("producer-id", "producer-epoch", "producer-seq")
LONGEST_ID: Final = 256
HIGHEST: Final = 2**53 - 1
_NUMBER: Final = re.compile("0|[1-9][0-9]{0,15}", re.ASCII)


def turn_of(request: Request) -> Turn | None:
    """Return the place of a request among those of its producer; None if it is not numbered."""
    name, epoch, seq = map(request.headers.get, HEADERS)
    if name is epoch is seq is None:
        return None
    if name is None or epoch is None or seq is None:
        message = "Producer-Id, Producer-Epoch and Producer-Seq come together or not at all"
        raise Problem(400, "HEADER", message)
    if not 0 < len(name) <= LONGEST_ID:
        raise Problem(400, "HEADER", f"a Producer-Id has 1 to {LONGEST_ID} characters")
    for number in (epoch, seq):
        if not _NUMBER.fullmatch(number) or int(number) > HIGHEST:
            message = f"Producer-Epoch and Producer-Seq are integers from 0 to {HIGHEST}"
            raise Problem(400, "HEADER", message)
    return Turn(name, int(epoch), int(seq))


def accepted(epoch: int, seq: int) -> dict[str, str]:
    """Return the headers that say which request was the last one to be accepted."""
    return {"producer-epoch": str(epoch), "producer-seq": str(seq)}


def check_repeated(turn: Turn, refused: TurnRefused) -> None:
    """Raise the Problem of a request that came too early or from a lower epoch.

    The only other reason to refuse it is that it was accepted before.
    """
    if turn.epoch < refused.epoch:
        message = "this producer has begun a later epoch"
        headers = {"producer-epoch": str(refused.epoch)}
        raise Problem(403, "STALE_EPOCH", message, headers)
    if turn.epoch > refused.epoch >= 0:
        raise Problem(400, "NEW_EPOCH", "a new epoch begins with Producer-Seq 0")
    if turn.seq > refused.seq:
        headers = {
            "producer-expected-seq": str(refused.seq + 1),
            "producer-received-seq": str(turn.seq),
        }
        raise Problem(409, "SEQUENCE_GAP", "requests of this producer are missing", headers)
