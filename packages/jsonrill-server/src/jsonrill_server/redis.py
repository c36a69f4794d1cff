"""A store in one Redis or Valkey server, for many replicas. Needs the extra `redis`.

One script does everything that changes a log, in one step. The keys begin with a prefix:

* `…:head:<key>`, a hash with the head; `…:rows:<key>`, a list of `<epoch>:<record>`;
* `…:due`, a sorted set of the logs that are not ENDED by the end of their lease;
* `…:owner:<owner>`, a sorted set of the owner's logs by age.

Redis deletes logs that expire by itself. A change is published, and one connection per process
listens. Head and records are written together, so a failover loses both or none of an append; then
the next append, or the next reader, finds another number or another epoch than it knows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from .log import (
    FORMAT,
    Head,
    NewLog,
    Row,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Write,
    cancel,
    next_epoch,
    refuse,
    refuse_more,
)

T = TypeVar("T")
log = logging.getLogger("jsonrill_server")
CONNECTIONS: Final = 50
# One attempt each: the caller decides whether to try again.
CONNECTING: Final[dict[str, Any]] = {
    "protocol": 2,
    "retry": Retry(NoBackoff(), 0),
    "socket_connect_timeout": 2,
}
# ARGV: operation, prefix, key, and the arguments of the operation.
SCRIPT: Final = """
local op, prefix, key = ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local head_key, rows_key, due = prefix .. 'head:' .. key, prefix .. 'rows:' .. key, prefix .. 'due'

local function load()
  local it = redis.call('HMGET', head_key, 'log', 'epoch', 'last', 'state', 'until', 'meta', 'size',
    'owner', 'keep')
  if not it[1] then return nil end
  return {log = it[1], epoch = tonumber(it[2]), last = tonumber(it[3]), state = tonumber(it[4]),
    ends = tonumber(it[5]), meta = it[6], size = tonumber(it[7]), owner = it[8],
    keep = tonumber(it[9])}
end
local function reply(it)
  return {it.log, it.epoch, it.last, it.state, it.ends - now, it.meta, it.size}
end
local function save(it)
  redis.call('HSET', head_key, 'log', it.log, 'epoch', it.epoch, 'last', it.last, 'state', it.state,
    'until', it.ends, 'meta', it.meta, 'size', it.size, 'owner', it.owner, 'keep', it.keep)
  local keep = math.max(it.keep, it.ends - now)
  redis.call('PEXPIRE', head_key, keep)
  redis.call('PEXPIRE', rows_key, keep)
  if it.state == 2 then redis.call('ZREM', due, key) else redis.call('ZADD', due, it.ends, key) end
end
local function moved(which) redis.pcall('PUBLISH', prefix .. 'moved', which) end
local function drop(which)
  local owner = redis.call('HGET', prefix .. 'head:' .. which, 'owner')
  if owner then redis.call('ZREM', prefix .. 'owner:' .. owner, which) end
  redis.call('ZREM', due, which)
  redis.call('DEL', prefix .. 'head:' .. which, prefix .. 'rows:' .. which)
  moved(which)
end
local function make_room(owner, most)
  local owned = prefix .. 'owner:' .. owner
  local surplus = redis.call('ZCARD', owned) - most + 1
  if surplus <= 0 then return true end
  for _, which in ipairs(redis.call('ZRANGE', owned, 0, -1)) do
    if surplus <= 0 then break end
    local state = redis.call('HGET', prefix .. 'head:' .. which, 'state')
    if not state or state == '2' then
      drop(which)
      redis.call('ZREM', owned, which)
      surplus = surplus - 1
    end
  end
  return surplus <= 0
end

if op == 'create' then
  local lease, replace, epoch = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
  local name, meta, owner = ARGV[7], ARGV[8], ARGV[9]
  local keep, most = tonumber(ARGV[10]), tonumber(ARGV[11])
  local it = load()
  if it and it.log == name then return reply(it) end
  if it and not (it.state == 2 and replace == '1') then return false end
  if not make_room(owner, most) then return {'FULL'} end
  redis.call('DEL', rows_key)
  it = {log = name, epoch = epoch, last = 0, state = 0, ends = now + lease, meta = meta, size = 0,
    owner = owner, keep = keep}
  save(it)
  redis.call('ZADD', prefix .. 'owner:' .. owner, now, key)
  redis.call('PEXPIRE', prefix .. 'owner:' .. owner, 2 * keep + 86400000)
  moved(key)
  return reply(it)
elseif op == 'claim' then
  local lease, force, step = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
  local it = load()
  if not it or it.state == 2 or (it.ends > now and force ~= '1') then return false end
  it.epoch, it.ends = it.epoch + step, now + lease
  save(it)
  moved(key)
  return reply(it)
elseif op == 'append' then
  local lease, epoch, after = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
  local state, again, count = tonumber(ARGV[7]), ARGV[8], #ARGV - 8
  local it = load()
  if not it or redis.call('LLEN', rows_key) ~= it.last then return {'LOST'} end
  if it.epoch ~= epoch then return {'FENCED'} end
  if again == '1' and count > 0 and it.last == after + count then return {'DONE'} end
  if it.last ~= after then return {'LOST'} end
  if it.state == 2 or (it.state == 1 and count > 0) then return {'FENCED'} end
  for i = 9, #ARGV do
    redis.call('RPUSH', rows_key, epoch .. ':' .. ARGV[i])
    it.size = it.size + #ARGV[i]
  end
  it.last, it.ends, it.state = it.last + count, now + lease, math.max(it.state, state)
  save(it)
  if count > 0 or state > 0 then moved(key) end
  return {'DONE'}
elseif op == 'read' then
  local it = load()
  if not it then return false end
  if redis.call('LLEN', rows_key) ~= it.last then return {'LOST'} end
  local after = tonumber(ARGV[4])
  return {reply(it), redis.call('LRANGE', rows_key, after, after + tonumber(ARGV[5]) - 1)}
elseif op == 'delete' then
  drop(key)
elseif op == 'expire' then
  local keys = {}
  for _, which in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[4])) do
    if redis.call('EXISTS', prefix .. 'head:' .. which) == 1 then
      keys[#keys + 1] = which
    else
      redis.call('ZREM', due, which)
    end
  end
  return keys
elseif op == 'check' then
  redis.call('SET', prefix .. 'probe', now, 'PX', 1000)
end
return false
"""


class RedisStore(Store):
    """Logs as lists; its clock is the server's."""

    def __init__(self, url: str, prefix: str = "jsonrill:") -> None:
        super().__init__()
        self._prefix = prefix
        options = {"socket_timeout": 5, "max_connections": CONNECTIONS, **CONNECTING}
        self._client: Any = redis.asyncio.from_url(url, **options)
        self._listener: Any = redis.asyncio.from_url(url, **CONNECTING)
        self._connections = asyncio.Semaphore(CONNECTIONS)
        self._script = self._client.register_script(SCRIPT)
        self._listening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        key = f"{self._prefix}format"
        await self._ask(lambda: self._client.set(key, FORMAT, nx=True))
        found = await self._ask(lambda: self._client.get(key))
        if found not in (None, b"%d" % FORMAT):
            raise StoreError(
                f"the keys {self._prefix}* of this Redis have format {found.decode()} and not"
                f" {FORMAT}: use another database, or delete them with the logs in them"
            )
        self._listening = asyncio.create_task(self._listen())

    async def close(self) -> None:
        await cancel(self._listening)
        await self._listener.aclose()
        await self._client.aclose()

    async def create(self, key: str, new: NewLog, lease: float) -> Head | None:
        about = (new.log, new.meta, new.owner, _ms(new.keep), new.most)
        arguments = (_ms(lease), int(new.replaces), next_epoch(), *about)
        found = await self._run("create", key, *arguments)
        if found == [b"FULL"]:
            refuse_more(new)
        return _head(found) if found else None

    async def claim(self, key: str, lease: float, *, force: bool = False) -> Head | None:
        found = await self._run("claim", key, _ms(lease), int(force), next_epoch())
        return _head(found) if found else None

    async def append(self, key: str, write: Write) -> None:
        about = (_ms(write.lease), write.epoch, write.after, int(write.state), int(write.again))
        [answer] = await self._run("append", key, *about, *write.records)
        refuse(answer.decode())

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        found = await self._run("read", key, after, limit)
        if not found:
            return None, []
        if found == [b"LOST"]:
            refuse("LOST")
        rows = []
        for seq, item in enumerate(found[1], after + 1):
            epoch, _, data = item.partition(b":")
            rows.append(Row(seq, int(epoch), data))
        return _head(found[0]), rows

    async def delete(self, key: str) -> None:
        await self._run("delete", key)

    async def expire(self, limit: int = 20) -> list[str]:
        return [key.decode() for key in await self._run("expire", "", limit)]

    async def probe(self) -> None:
        await self._run("check", "")

    async def _run(self, operation: str, key: str, *arguments: str | int | bytes) -> Any:
        argv = [operation, self._prefix, key, *arguments]
        return await self._ask(lambda: self._script(args=argv))

    async def _ask(self, command: Callable[[], Awaitable[T]]) -> T:
        try:
            async with self._connections:
                return await command()
        # The client raises errors of many kinds while servers come and go.
        except Exception as error:
            if "OOM" in str(error):
                raise StoreFull("the memory of Redis is full") from error
            raise StoreUnavailable(f"Redis: {error}") from error

    async def _listen(self) -> None:
        """Wake the readers here of logs that any process has changed."""
        while True:
            try:
                async with self._listener.pubsub() as link:
                    await link.subscribe(f"{self._prefix}moved")
                    await self._hear(link)
            except Exception as error:
                log.warning("changes in Redis are not announced: %s", error)
            self.signals.wake_all()
            await asyncio.sleep(1.0)

    async def _hear(self, link: Any) -> None:
        is_pinged = False
        while True:
            message = await link.get_message(timeout=5.0)
            if message is None:
                if is_pinged:
                    raise TimeoutError("no answer")
                is_pinged = True
                await link.ping()
                continue
            is_pinged = False
            if message["type"] == "subscribe":
                self.signals.wake_all()  # they look again for what came before
            elif message["type"] == "message":
                self.signals.wake(message["data"].decode())


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


def _head(found: list[Any]) -> Head:
    name, epoch, last, state, left, meta, size = found
    return Head(name.decode(), epoch, last, state, left / 1000, meta.decode(), size)
