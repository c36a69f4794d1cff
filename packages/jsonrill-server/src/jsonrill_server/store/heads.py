"""The head of a log: all that is known of it beside its records, and what may be done to it.

A store keeps the head as one piece and exchanges it for the next one together with the records that
it adds, if it is still the one that the change was made from. So whether an append is in turn,
whether a lease has run out and what fits is decided here, once, and not in the language of each
store. All functions are pure: they take a head and the time, and return the next head or raise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from ..bounds import Bounds
from .base import (
    CALLS,
    NO_TURN,
    Append,
    Entry,
    LogClosed,
    New,
    Status,
    StreamTaken,
    Tail,
    check_fits,
    check_turn,
    new_mark,
    next_mark,
)


class Clock(NamedTuple):
    """The time of a store, and since when it takes writes without a pause.

    A producer could renew no lease before that; so leases count from there at the earliest.
    """

    now: float
    back: float = float("-inf")


class Head(NamedTuple):
    """The state of a log. Times are those of the store, in seconds."""

    # Of the change that made this head: no two are alike.
    name: str
    owner: str
    producer: str
    # When the producer's time runs out, or when the log was closed; for how long it was given.
    lease: float
    term: float
    # When the log is deleted, unless it is used before.
    expires: float
    last: int
    size: int
    mark: int
    closed: bool
    # The end of the lease as the store's list of streams has it, which is told of it rarely.
    listed: float
    # Epoch and number of each producer's last append.
    turns: dict[str, tuple[int, int]]
    # The last changes that wrote without a number, by name.
    calls: Sequence[str]

    @property
    def tail(self) -> Tail:
        return Tail(self.last, self.mark)

    def is_held(self, clock: Clock) -> bool:
        """Return True while its producer may write."""
        return self.lease > clock.now or clock.back + self.term > clock.now

    def encoded(self) -> bytes:
        return json.dumps(self, separators=(",", ":")).encode()

    @classmethod
    def decoded(cls, text: bytes | str) -> Head:
        return cls(*json.loads(text))

    def status(self, meta: bytes, clock: Clock) -> Status:
        return Status(
            self.owner,
            meta,
            self.last,
            self.size,
            self.mark,
            self.closed,
            self.producer,
            self.lease - clock.now,
            not self.closed and not self.is_held(clock),
            self.expires - clock.now,
        )


class Change(NamedTuple):
    """The next head, and the records that come with it."""

    head: Head
    rows: Sequence[Entry] = ()


def begun(new: New, producer: str, lease: float, clock: Clock, bounds: Bounds) -> Change:
    """Return a new log, whose record 0 is its meta."""
    now, mark = clock.now, new_mark()
    head = Head(
        name="",
        owner=new.owner,
        producer=producer,
        lease=now + lease,
        term=lease,
        expires=now + bounds.keep_open,
        last=0,
        size=0,
        mark=mark,
        closed=False,
        listed=0.0,
        turns={},
        calls=(),
    )
    return Change(head, [Entry(0, bytes(new.meta), False, mark)])


def appended(head: Head, producer: str, append: Append, clock: Clock, bounds: Bounds) -> Change:
    """What `Store.write` does."""
    turn, now = append.turn, clock.now
    if turn is not None:
        last = head.turns.get(turn.producer, NO_TURN)
        check_turn(turn, (last[0], last[1]), len(head.turns), head.tail, head.closed)
        head = head._replace(turns={**head.turns, turn.producer: (turn.epoch, turn.seq)})
    if head.closed:
        raise LogClosed("the stream has ended")
    check_free(head, producer, clock)
    if turn is not None and producer not in ("", head.producer):
        # It had the lease of a log that this one took the place of: a number does not tell them
        # apart, because the first of a producer fits any log that does not know it.
        raise StreamTaken("another producer had this stream last")
    check_fits(bounds, head.last, head.size, append.records)
    if append.lease is not None:
        head = _leased(head, producer, append.lease, now)
    head, rows = _written(head, append.records, append.end, now)
    return Change(_used(head, now, bounds), rows)


def ended(
    head: Head, data: bytes, only_if_lost: bool, clock: Clock, bounds: Bounds
) -> Change | None:
    """What `Store.finalize` does; None if nothing is to be done."""
    if head.closed or (only_if_lost and head.is_held(clock)):
        return None
    head, rows = _written(head, (), data, clock.now)
    return Change(_used(head, clock.now, bounds), rows)


def taken(head: Head, producer: str, lease: float, clock: Clock, bounds: Bounds) -> Change:
    """What `Store.acquire` does to a log that is there."""
    if head.closed:
        raise LogClosed("the stream has ended")
    check_free(head, producer, clock)
    return Change(_used(_leased(head, producer, lease, clock.now), clock.now, bounds))


def check_free(head: Head, producer: str, clock: Clock) -> None:
    """Raise StreamTaken while another producer with a name has the lease."""
    if head.producer not in ("", producer) and head.is_held(clock):
        raise StreamTaken("another producer holds this stream")


def named(change: Change, before: Head | None, name: str, now: float) -> Head:
    """Return the head of a change under its name, with what the store's list is to be told.

    The list hears of a lease when half of what it knows of is over, or when it ends earlier.
    """
    head = change.head
    numbered = before is not None and head.turns != before.turns
    calls = head.calls if numbered or not change.rows else [*head.calls, name][-CALLS:]
    listed = head.listed
    if head.lease < listed or listed - now < (head.lease - now) / 2:
        listed = head.lease
    return head._replace(name=name, calls=calls, listed=listed)


def _leased(head: Head, producer: str, lease: float, now: float) -> Head:
    return head._replace(producer=producer, lease=now + lease, term=lease)


def _used(head: Head, now: float, bounds: Bounds) -> Head:
    return head._replace(expires=now + (bounds.keep_closed if head.closed else bounds.keep_open))


def _written(
    head: Head, records: Sequence[bytes], end: bytes | None, now: float
) -> tuple[Head, list[Entry]]:
    """Number the records, and close the log if there is an end."""
    rows, mark, size = [], head.mark, 0
    for seq, data in enumerate(records if end is None else [*records, end], head.last + 1):
        mark = next_mark(mark, data)
        size += len(data)
        rows.append(Entry(seq, bytes(data), False, mark))
    head = head._replace(last=head.last + len(rows), size=head.size + size, mark=mark)
    if end is not None:
        rows[-1] = rows[-1]._replace(final=True)
        head = head._replace(closed=True, lease=now)
    return head, rows
