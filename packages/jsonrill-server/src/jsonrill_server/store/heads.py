"""The head of a log: all that is known of it beside its records, and what may be done to it.

A store keeps the head as one piece and exchanges it for the next one together with the records that
it adds, if it is still the one that the change was made from. So whether an append is in turn,
whether a lease has run out and what fits is decided here, once, and not in the language of each
store. All functions are pure: they take a head and the time, and return the next head or raise.
"""

from __future__ import annotations

import json
import time
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
    check_order,
    new_mark,
    next_mark,
    next_turn,
    turn_cost,
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
    # When the log is deleted: `ttl` seconds after its last use (0: as the bounds say), or fixed.
    expires: float
    ttl: float
    fixed: bool
    last: int
    size: int
    mark: int
    closed: bool
    # What the log takes in the store, and what is booked for it.
    cost: int
    booked: int
    # The end of the lease as the store's list of streams has it, which is told of it rarely.
    listed: float
    # The greatest `order` of an append, as text; epoch and number of each producer's last append.
    order: str
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
    """The next head, and the records that come with it; `bounded` if they need room."""

    head: Head
    rows: Sequence[Entry] = ()
    bounded: bool = False


def begun(
    new: New, producer: str, lease: float, clock: Clock, bounds: Bounds, costs: tuple[int, int]
) -> Change:
    """A new log, whose record 0 is what it is about. `costs` are those of a stream and a record."""
    check_fits(bounds, 0, 0, new.records)
    now, mark = clock.now, new_mark()
    expires = now + (new.until - time.time()) if new.until else 0.0
    cost = costs[0] + len(new.meta)
    head = Head(
        name="",
        owner=new.owner,
        producer=producer,
        lease=now + lease,
        term=lease,
        expires=expires,
        ttl=new.ttl,
        fixed=new.until > 0,
        last=0,
        size=0,
        mark=mark,
        closed=False,
        cost=cost,
        booked=cost,
        listed=0.0,
        order="",
        turns={},
        calls=(),
    )
    about = Entry(0, bytes(new.meta), False, mark)
    head, rows = _written(head, new.records, new.end, costs[1], now)
    return Change(_used(head, now, bounds), [about, *rows])


def appended(
    head: Head, producer: str, append: Append, clock: Clock, bounds: Bounds, record_cost: int
) -> Change:
    """What `Store.write` does."""
    turn, now = append.turn, clock.now
    # An end is written whatever the bounds say, as is a claim of a producer that is known.
    is_bounded = bool(append.records)
    if turn is not None:
        last = head.turns.get(turn.producer, NO_TURN)
        if next_turn(turn, (last[0], last[1]), len(head.turns), head.tail, head.closed):
            is_bounded = True
            head = head._replace(cost=head.cost + turn_cost(turn.producer))
        head = head._replace(turns={**head.turns, turn.producer: (turn.epoch, turn.seq)})
    if head.closed:
        raise LogClosed("the stream has ended")
    check_order(append.order, head.order.encode("latin-1"))
    check_free(head, producer, clock)
    if turn is not None and producer not in ("", head.producer):
        # It had the lease of a log that this one took the place of: a number does not tell them
        # apart, because the first of a producer fits any log that does not know it.
        raise StreamTaken("another producer had this stream last")
    check_fits(bounds, head.last, head.size, append.records)
    if append.order:
        head = head._replace(order=append.order.decode("latin-1"))
    if append.lease is not None:
        head = _leased(head, producer, append.lease, now)
    head, rows = _written(head, append.records, append.end, record_cost, now)
    return Change(_used(head, now, bounds), rows, is_bounded)


def ended(
    head: Head, data: bytes, only_if_lost: bool, clock: Clock, bounds: Bounds, record_cost: int
) -> Change | None:
    """What `Store.finalize` does; None if nothing is to be done."""
    if head.closed or (only_if_lost and head.is_held(clock)):
        return None
    head, rows = _written(head, (), data, record_cost, clock.now)
    return Change(_used(head, clock.now, bounds), rows)


def taken(head: Head, producer: str, lease: float, clock: Clock, bounds: Bounds) -> Change:
    """What `Store.acquire` does to a log that is there."""
    if head.closed:
        raise LogClosed("the stream has ended")
    check_free(head, producer, clock)
    return Change(_used(_leased(head, producer, lease, clock.now), clock.now, bounds))


def touched(head: Head, lease: float, clock: Clock, bounds: Bounds) -> Change:
    """What `Store.touch` does."""
    if not head.closed and not head.fixed:
        head = _leased(head, head.producer, lease, clock.now)
    return Change(_used(head, clock.now, bounds))


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
    if head.fixed:
        return head
    keep = bounds.keep_closed if head.closed else bounds.keep_open
    return head._replace(expires=now + (head.ttl or keep))


def _written(
    head: Head, records: Sequence[bytes], end: bytes | None, record_cost: int, now: float
) -> tuple[Head, list[Entry]]:
    """Number the records, and close the log if there is an end."""
    rows, mark, size = [], head.mark, 0
    for seq, data in enumerate(records if end is None else [*records, end], head.last + 1):
        mark = next_mark(mark, data)
        size += len(data)
        rows.append(Entry(seq, bytes(data), False, mark))
    cost = head.cost + size + record_cost * len(rows)
    head = head._replace(last=head.last + len(rows), size=head.size + size, mark=mark, cost=cost)
    if end is not None:
        rows[-1] = rows[-1]._replace(final=True)
        # What was booked for more is given back.
        head = head._replace(closed=True, lease=now, booked=cost)
    return head, rows
