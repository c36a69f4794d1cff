"""A store in Redis or Valkey, one server or a cluster, for many replicas. Needs the extra `redis`.

Streams are spread over parts: one part on a server, `PARTS` in a cluster. All keys of a part have
its number in braces, so that they are in one slot and a script can change them in one step:

* `…:<stream>:head`, a hash with the head and its name;
* `…:<stream>:log`, a Redis stream whose ids are `<seq>-<mark>`, and `0-1` for what it is about; a
  record's field is `d`, that of the last one `e`;
* `…:sizes`, a hash: what each stream has booked and whose it is (`=<stream>`), and the sums of
  each owner (`@<owner>`) and of all (the empty name);
* `…:ends` and `…:ends:<owner>`, sorted sets of streams by the end of their lease;
* `…:tick`, which every process writes again and again. A gap in it means that Redis was down or
  could not be written to, so that no lease could be renewed: then leases count from its return.

Redis deletes streams that expire; they are removed from the list of a part when it is full.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import sha1
from typing import Any, Final, TypeVar
from zlib import crc32

import redis.asyncio
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoPermissionError, NoScriptError, OutOfMemoryError

from jsonrill.ext.tasks import stop

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
VERSION: Final = 2
PARTS: Final = 16
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

# KEYS: head, log, tick, sizes, ends, ends of the owner, ends of the owner before.
_CLOCK: Final = f"""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ticks = redis.call('HMGET', KEYS[3], 'at', 'back')
local back = now
if ticks[1] and now - tonumber(ticks[1]) <= {_GAP} then back = tonumber(ticks[2]) end
"""
_UNLIST: Final = """
local function unlist(stream)
  local had = redis.call('HGET', KEYS[4], '=' .. stream)
  if not had then return end
  local size, owner = string.match(had, '^(%d+) (.*)$')
  redis.call('HDEL', KEYS[4], '=' .. stream)
  for _, sum in ipairs({'', '@' .. owner}) do
    if redis.call('HINCRBY', KEYS[4], sum, -size) <= 0 then redis.call('HDEL', KEYS[4], sum) end
  end
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
# booked, the end of the lease (or nothing) and how long the list is kept; `new`, `end` or nothing;
# then id, field and data of each record. Answers with the head that is there instead and 0, or with
# 1 if the log is lost, 2 if it was done.
_SWAP: Final = (
    _CLOCK
    + _UNLIST
    + """
local stream, owner, booked, ends, life = ARGV[6], ARGV[7], ARGV[8], ARGV[9], tonumber(ARGV[10])
local old = redis.call('HMGET', KEYS[1], 'name', 'head')
if (old[1] or '') ~= ARGV[1] then return {now, back, old[2] or '', 0} end
local new = ARGV[11] == 'new'
if #ARGV > 11 and ARGV[11] == '' and redis.call('EXISTS', KEYS[2]) == 0 then
  return {now, back, '', 1}
end
redis.call('HSET', KEYS[1], 'name', ARGV[2], 'head', ARGV[3])
if new then redis.call('DEL', KEYS[2]) end
for i = 12, #ARGV, 3 do
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
  redis.call('HSET', KEYS[4], '=' .. stream, booked .. ' ' .. owner)
  redis.call('HINCRBY', KEYS[4], '', booked)
  redis.call('HINCRBY', KEYS[4], '@' .. owner, booked)
  redis.call('ZADD', KEYS[5], ends, stream)
  redis.call('ZADD', KEYS[6], ends, stream)
  for i = 4, 6 do
    if redis.call('PTTL', KEYS[i]) < life then redis.call('PEXPIRE', KEYS[i], life + 60000) end
  end
end
if #ARGV > 11 then redis.pcall('PUBLISH', ARGV[5], '') end
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
    """Logs as Redis streams, on a server or on the nodes of a cluster."""

    record_cost = 20
    stream_cost = 5000

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
        self._is_cluster = "+cluster" in url.partition(":")[0]
        url = url.replace("+cluster", "", 1) if self._is_cluster else url
        client: Any = redis.asyncio.RedisCluster if self._is_cluster else redis.asyncio
        options = {"socket_timeout": 5, "max_connections": CONNECTIONS, **CONNECTING}
        self._client = client.from_url(url, **options)
        parts = range(PARTS if self._is_cluster else 1)
        self._parts = [f"{prefix}:{{{number}}}" for number in parts]
        self._connections = asyncio.Semaphore(CONNECTIONS)
        listener = (
            _AnyNode(self._client, url)
            if self._is_cluster
            else redis.asyncio.from_url(url, **CONNECTING)
        )
        around = (f"{prefix}:{{", "}:log")
        self._wake_ups = WakeUps(
            listener, self._signals, around, lambda what, error: self.on_error(what, error)
        )
        self._ticking: list[asyncio.Task[None]] = []
        scripts = (_Script(self._client, text) for text in (_FIND, _SWAP, _DROP, _TICK))
        self._run_find, self._run_swap, self._run_drop, self._run_tick = scripts

    async def open(self) -> None:
        await self._insist(lambda: self._ask(self._client.ping))
        if not self._is_cluster and await self._insist(lambda: self._ask(self._is_node)):
            raise StoreError("this Redis is a node of a cluster: write redis+cluster://")
        await self._check_version()
        self._ticking = [asyncio.create_task(self._tick(part)) for part in self._parts]

    async def _is_node(self) -> bool:
        try:
            return bool((await self._client.info("cluster")).get("cluster_enabled"))
        except NoPermissionError:  # then it is not told
            return False

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
        await stop(*self._ticking)
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
        arguments += [self._channel(stream), stream, head.owner, head.booked]
        life = 2 * max(self.bounds.keep_open, self.bounds.keep_closed, head.ttl)
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

        def ask(pipe: Any, part: str) -> None:
            pipe.zcount(f"{part}:ends:{owner}", since, "+inf")
            pipe.hget(f"{part}:sizes", f"@{owner}")
            pipe.zcard(f"{part}:ends")
            pipe.hget(f"{part}:sizes", "")

        answers = await self._of_parts(ask)
        return Usage(*(sum(int(one or 0) for one in answers[at::4]) for at in range(4)))

    async def _oldest(self, owner: str | None, now: float) -> Sequence[str]:
        of_owner, until = "" if owner is None else f":{owner}", int(now * 1000)

        def ask(pipe: Any, part: str) -> None:
            some = {"start": 0, "num": 20, "withscores": True}
            pipe.zrangebyscore(f"{part}:ends{of_owner}", "-inf", until, **some)

        scored = [(score, name) for part in await self._of_parts(ask) for name, score in part]
        return [name.decode() for _, name in sorted(scored)]

    async def _use(self, token: str, name: str, seconds: float) -> bool:
        key, life = f"{self._prefix}:once:{token}", max(1, int(seconds * 1000))
        before = await self._ask(lambda: self._client.set(key, name, nx=True, px=life, get=True))
        return before is None or before == name.encode()

    def _keys(self, stream: str, owner: str, before: str | None = None) -> list[str]:
        part = self._parts[crc32(stream.encode()) % len(self._parts)]
        names = (f"{stream}:head", f"{stream}:log", "tick", "sizes", "ends", f"ends:{owner}")
        last = owner if before is None else before
        return [f"{part}:{name}" for name in (*names, f"ends:{last}")]

    def _channel(self, stream: str) -> str:
        return f"{self._prefix}:{{{stream}}}:log"

    async def _owner(self, stream: str) -> str:
        """Return whose a stream is in the list."""
        sizes = self._keys(stream, "")[3]
        listed = await self._ask(lambda: self._client.hget(sizes, f"={stream}"))
        return listed.decode().partition(" ")[2] if listed else ""

    async def _of_parts(self, ask: Callable[[Any, str], None]) -> list[Any]:
        """Return the answers of every part to the same questions."""

        async def work() -> list[Any]:
            options = {} if self._is_cluster else {"transaction": False}
            pipe = self._client.pipeline(**options)
            for part in self._parts:
                ask(pipe, part)
            return list(await pipe.execute())

        return await self._ask(work)

    async def _tick(self, part: str) -> None:
        """Write the time at intervals, as evidence that Redis accepts writes."""
        keys = 3 * [f"{part}:tick"]  # one slot
        while True:
            try:
                await self._ask(lambda: self._run_tick(keys, []))
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


class _Script:
    """A script that is sent where it is missing. The client of a cluster has none of its own."""

    def __init__(self, client: Any, text: str) -> None:
        self._client = client
        self._text = text
        self._sha = sha1(text.encode()).hexdigest()

    async def __call__(self, keys: list[str], arguments: list[Any]) -> Any:
        try:
            return await self._client.evalsha(self._sha, len(keys), *keys, *arguments)
        except NoScriptError:
            return await self._client.eval(self._text, len(keys), *keys, *arguments)


class _AnyNode:
    """Connections to any node for messages: each passes on what is published at another."""

    def __init__(self, cluster: Any, url: str) -> None:
        self._cluster = cluster
        self._given: dict[str, Any] = {**parse_url(url), **CONNECTING}

    def pubsub(self) -> Any:
        nodes = self._cluster.get_primaries()
        where = {}
        if nodes:
            node = random.choice(nodes)
            where = {"host": node.host, "port": node.port}
        pool = redis.asyncio.ConnectionPool(**{**self._given, **where})
        return redis.asyncio.Redis(connection_pool=pool).pubsub()

    def aclose(self) -> Awaitable[None]:
        return asyncio.sleep(0)


def _clock(now: int, back: int) -> Clock:
    return Clock(now / 1000, back / 1000)
