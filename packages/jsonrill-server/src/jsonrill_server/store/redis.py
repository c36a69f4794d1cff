"""A store in one Redis or Valkey server, for many replicas. Needs the extra `redis`.

The keys begin with a prefix. Scripts change several of them in one step:

* `…:head:<stream>`, a hash with the head and its name;
* `…:log:<stream>`, a Redis stream whose ids are `<seq>-<mark>`, and `0-1` for what it is about; a
  record's field is `d`, that of the last one `e`;
* `…:owners`, a hash: the owner of each stream;
* `…:ends` and `…:owner:<owner>`, sorted sets of streams by the end of their lease;
* `…:tick`, which every process writes again and again. A gap in it means that Redis was down or
  could not be written to, so that no lease could be renewed: then leases count from its return.

Redis deletes streams that expire; they are removed from the list when it is full.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import OutOfMemoryError

from jsonrill_server.tasks import stop

from .base import (
    Bounds,
    Entry,
    LogLost,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from .heads import Clock, Head
from .logs import RETRY_FOR, Found, Store, Usage
from .redis_wake_ups import WakeUps

T = TypeVar("T")
# Of the keys and what is in them, as described above; `…:version` says which one is there.
VERSION: Final = 3
CONNECTIONS: Final = 50
TICK_EVERY: Final = 0.5
# Milliseconds without a tick after which Redis counts as having been away.
_GAP: Final = 1500
# One try each: `Store` decides what happens next.
CONNECTING: dict[str, Any] = {
    "protocol": 2,
    "retry": Retry(NoBackoff(), 0),
    "socket_connect_timeout": 2,
}

# KEYS: head, log, tick, owners, ends, ends of the owner, ends of the owner before.
_CLOCK: Final = f"""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ticks = redis.call('HMGET', KEYS[3], 'at', 'back')
local back = now
if ticks[1] and now - tonumber(ticks[1]) <= {_GAP} then back = tonumber(ticks[2]) end
"""
_UNLIST: Final = """
local function unlist(stream)
  redis.call('HDEL', KEYS[4], stream)
  redis.call('ZREM', KEYS[5], stream)
  redis.call('ZREM', KEYS[7], stream)
end
"""
# ARGV: the first record that is wanted, and how many.
_FIND: Final = (
    _CLOCK
    + """
local head, rows = redis.call('HGET', KEYS[1], 'head'), {}
if head and ARGV[2] ~= '0' then
  rows = redis.call('XRANGE', KEYS[2], ARGV[1], '+', 'COUNT', ARGV[2])
end
return {now, back, head or '', rows}
"""
)
# ARGV: the name of the head before, name and head, when it expires, the channel; stream, owner,
# the end of the lease (or nothing) and how long the list is kept; `new`, `end` or nothing; then id,
# field and data of each record. Answers with the head that is there instead and 0, or with 1 if the
# log is lost, 2 if it was done.
_SWAP: Final = (
    _CLOCK
    + _UNLIST
    + """
local stream, owner, ends, life = ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9])
local old = redis.call('HMGET', KEYS[1], 'name', 'head')
if (old[1] or '') ~= ARGV[1] then return {now, back, old[2] or '', 0} end
local new = ARGV[10] == 'new'
if #ARGV > 10 and ARGV[10] == '' and redis.call('EXISTS', KEYS[2]) == 0 then
  return {now, back, '', 1}
end
redis.call('HSET', KEYS[1], 'name', ARGV[2], 'head', ARGV[3])
if new then redis.call('DEL', KEYS[2]) end
for i = 11, #ARGV, 3 do
  if new then
    redis.call('XADD', KEYS[2], ARGV[i], ARGV[i + 1], ARGV[i + 2])
  else
    redis.call('XADD', KEYS[2], 'NOMKSTREAM', ARGV[i], ARGV[i + 1], ARGV[i + 2])
  end
end
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
redis.call('PEXPIREAT', KEYS[2], ARGV[4])
if ends ~= '' then
  unlist(stream)
  redis.call('HSET', KEYS[4], stream, owner)
  redis.call('ZADD', KEYS[5], ends, stream)
  redis.call('ZADD', KEYS[6], ends, stream)
  for i = 4, 6 do
    if redis.call('PTTL', KEYS[i]) < life then redis.call('PEXPIRE', KEYS[i], life + 60000) end
  end
end
if #ARGV > 10 then redis.pcall('PUBLISH', ARGV[5], '') end
return {now, back, '', 2}
"""
)
# ARGV: stream, the name of its head or `*`, the channel.
_DROP: Final = (
    _UNLIST
    + """
if ARGV[2] ~= '*' and (redis.call('HGET', KEYS[1], 'name') or '') ~= ARGV[2] then return 0 end
unlist(ARGV[1])
redis.call('DEL', KEYS[1], KEYS[2])
redis.pcall('PUBLISH', ARGV[3], '')
return 1
"""
)
_TICK: Final = _CLOCK + "redis.call('HSET', KEYS[3], 'back', back, 'at', now)"


class RedisStore(Store):
    """Logs as Redis streams."""

    def __init__(
        self,
        url: str,
        bounds: Bounds | None = None,
        *,
        prefix: str = "jsonrill",
        retry_for: float = RETRY_FOR,
    ) -> None:
        super().__init__(bounds)
        self._prefix = prefix
        self.retry_for = retry_for
        options = {"socket_timeout": 5, "max_connections": CONNECTIONS, **CONNECTING}
        self._client: Any = redis.asyncio.from_url(url, **options)
        self._connections = asyncio.Semaphore(CONNECTIONS)
        listener = redis.asyncio.from_url(url, **CONNECTING)
        self._wake_ups = WakeUps(
            listener, self._signals, self._channel, lambda what, error: self.on_error(what, error)
        )
        self._ticking: asyncio.Task[None] | None = None
        scripts = map(self._client.register_script, (_FIND, _SWAP, _DROP, _TICK))
        self._run_find, self._run_swap, self._run_drop, self._run_tick = scripts

    async def open(self) -> None:
        await self._insist(lambda: self._ask(self._client.ping))
        await self._check_version()
        self._ticking = asyncio.create_task(self._tick())

    async def _check_version(self) -> None:
        """Raise StoreError if the keys are those of another version; mark them if nothing says."""
        key = f"{self._prefix}:version"
        with suppress(StoreFull, StoreUnavailable):  # then it is marked later, by another process
            await self._ask(lambda: self._client.set(key, VERSION, nx=True))
        version = await self._insist(lambda: self._ask(lambda: self._client.get(key)))
        if version not in (None, b"%d" % VERSION):
            raise StoreError(
                f"the keys {self._prefix}:* of this Redis were made by another version of jsonrill:"
                " use another database, or delete them, with the logs in them"
            )

    async def close(self) -> None:
        self._signals.close()
        await stop(self._ticking)
        await self._wake_ups.close()
        await self._client.aclose()

    async def _find(self, stream: str, after: int, count: int) -> Found:
        keys, arguments = self._keys(stream, ""), [after + 1, count]
        now, back, text, raw = await self._ask(lambda: self._run_find(keys, arguments))
        rows = []
        for name, (field, data) in raw:
            seq, _, mark = name.partition(b"-")
            rows.append(Entry(int(seq), data, field == b"e", int(mark)))
        return Found(_clock(now, back), Head.decoded(text) if text else None, rows)

    async def _swap(
        self, stream: str, before: str, head: Head, rows: Sequence[Entry], listed: bool
    ) -> Found:
        is_new, owner = bool(rows) and rows[0].seq == 0, head.owner
        if is_new and before:
            owner = await self._owner(stream)
        keys = self._keys(stream, head.owner, owner)
        arguments: list[Any] = [before, head.name, head.encoded(), int(head.expires * 1000)]
        arguments += [self._channel(stream), stream, head.owner]
        life = 2 * max(self.bounds.keep_open, self.bounds.keep_closed)
        arguments += [int(head.listed * 1000) if listed else "", int(life * 1000)]
        arguments.append("new" if is_new else "end" if head.closed else "")
        for row in rows:
            name = f"{row.seq}-{row.mark}" if row.seq else "0-1"
            arguments += [name, "e" if row.final else "d", row.data]
        now, back, text, outcome = await self._ask(lambda: self._run_swap(keys, arguments))
        if outcome == 1:
            raise LogLost("the store lost records of this stream")
        clock = _clock(now, back)
        if outcome == 2:
            return Found(clock, head)
        return Found(clock, Head.decoded(text) if text else None)

    async def _drop(self, stream: str, name: str | None) -> None:
        keys = self._keys(stream, await self._owner(stream))
        arguments = [stream, "*" if name is None else name, self._channel(stream)]
        await self._ask(lambda: self._run_drop(keys, arguments))

    async def _usage(self, owner: str, now: float) -> Usage:
        since = f"({int(now * 1000)}"

        async def work() -> Usage:
            pipe = self._client.pipeline(transaction=False)
            pipe.zcount(self._key(f"owner:{owner}"), since, "+inf")
            pipe.zcard(self._key("ends"))
            return Usage(*await pipe.execute())

        return await self._ask(work)

    async def _oldest(self, now: float) -> Sequence[str]:
        key, until = self._key("ends"), int(now * 1000)
        names = await self._ask(
            lambda: self._client.zrangebyscore(key, "-inf", until, start=0, num=20)
        )
        return [name.decode() for name in names]

    async def _probe(self) -> None:
        await self._ask(self._tick_once)

    def _key(self, name: str) -> str:
        return f"{self._prefix}:{name}"

    def _keys(self, stream: str, owner: str, before: str | None = None) -> list[str]:
        names = (f"head:{stream}", f"log:{stream}", "tick", "owners", "ends", f"owner:{owner}")
        last = owner if before is None else before
        return [self._key(name) for name in (*names, f"owner:{last}")]

    def _channel(self, stream: str) -> str:
        return self._key(f"log:{stream}")

    async def _owner(self, stream: str) -> str:
        """Return the owner of a stream in the list."""
        owner = await self._ask(lambda: self._client.hget(self._key("owners"), stream))
        return owner.decode() if owner else ""

    async def _tick_once(self) -> None:
        await self._run_tick(3 * [self._key("tick")], [])

    async def _tick(self) -> None:
        """Write the time at intervals, as evidence that Redis accepts writes."""
        while True:
            try:
                await self._ask(self._tick_once)
            except Exception as error:  # the loop must survive any error
                self.on_error("tick", error)
            await asyncio.sleep(TICK_EVERY)

    async def _ask(self, command: Callable[[], Awaitable[T]]) -> T:
        try:
            async with self._connections:
                return await command()
        # Its client raises whatever it meets, of many kinds, while servers come and go:
        # a connection that is closed meanwhile is a RuntimeError where uvloop runs.
        except Exception as error:
            # Redis before 7 puts the error of a command in a script into the message.
            if isinstance(error, OutOfMemoryError) or "-OOM " in str(error):
                self.on_error("memory", error)
                raise StoreFull("memory", "the store is full") from error
            raise StoreUnavailable(f"no answer from Redis: {error}") from error


def _clock(now: int, back: int) -> Clock:
    return Clock(now / 1000, back / 1000)
