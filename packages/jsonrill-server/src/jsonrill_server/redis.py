"""A store in one Redis or Valkey server, for many replicas. Needs the extra `redis`.

One script does everything that changes a log, in one step. Its keys are:

* `jsonrill:log:<key>`, a list: the head, the meta, and each record as `<epoch>:<record>`;
* `jsonrill:due`, the logs that have not ended, scored by when their lease expires;
* `jsonrill:owner:<owner>`, the owner's logs, scored by when they were created.

Redis deletes logs that expire by itself. A change is published, and one connection per process
listens. Head and records are one value, so a failover loses both or none of an append; then the
next append or read detects the wrong number or epoch.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, Final, TypeVar

import redis.asyncio
import redis.exceptions
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from .log import FORMAT, Head, NewLog, Row, Store, StoreFull, StoreUnavailable, Write

T = TypeVar("T")
CONNECTIONS: Final = 50
# One attempt each: the caller decides whether to try again.
CONNECTING: Final[dict[str, Any]] = {
    "protocol": 2,
    "retry": Retry(NoBackoff(), 0),
    "socket_connect_timeout": 2,
}
# ARGV: operation, key, the fields of the operation as JSON, and records.
SCRIPT: Final = """
local op, key, fields = ARGV[1], ARGV[2], cjson.decode(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local due = 'jsonrill:due'

local function list(name) return 'jsonrill:log:' .. name end
local function owned(owner) return 'jsonrill:owner:' .. owner end
local function load(name)
  local text = redis.call('LINDEX', list(name), 0)
  return text and cjson.decode(text)
end
local function announce(name) redis.pcall('PUBLISH', 'jsonrill:changed', name) end
local function save(head)
  redis.call('LSET', list(key), 0, cjson.encode(head))
  redis.call('PEXPIRE', list(key), math.ceil(1000 * math.max(head.keep, head.ends - now)))
  if head.state == 2 then
    redis.call('ZREM', due, key)
  else
    redis.call('ZADD', due, head.ends, key)
  end
  announce(key)
end
local function reply(head, ...)
  head.left = head.ends - now
  return {cjson.encode(head), redis.call('LINDEX', list(key), 1), ...}
end
local function drop(name, owner)
  redis.call('DEL', list(name))
  redis.call('ZREM', due, name)
  redis.call('ZREM', owned(owner), name)
  announce(name)
end
local function make_room()
  local surplus = redis.call('ZCARD', owned(fields.owner)) - fields.most + 1
  if surplus <= 0 then return true end
  for _, name in ipairs(redis.call('ZRANGE', owned(fields.owner), 0, -1)) do
    local head = load(name)
    if not head or head.state == 2 then
      drop(name, fields.owner)
      surplus = surplus - 1
      if surplus == 0 then return true end
    end
  end
end

if op == 'create' then
  local former = load(key)
  if former and former.log ~= fields.replaces then return false end
  if not former and not make_room() then return false end
  local head = {log = fields.log, epoch = fields.epoch, last = 0, state = 0, size = 0,
    ends = now + fields.lease, owner = fields.owner, keep = fields.keep}
  if former then redis.call('DEL', list(key)) end
  redis.call('RPUSH', list(key), '', fields.meta)
  save(head)
  redis.call('ZADD', owned(fields.owner), now, key)
  redis.call('PEXPIRE', owned(fields.owner), math.ceil(2000 * fields.keep) + 86400000)
  return reply(head)
elseif op == 'write' then
  local head = load(key)
  if not head or head.epoch ~= fields.epoch or head.state ~= fields.state then return false end
  local is_claim = fields.next_epoch ~= fields.epoch and fields.count == 0
  if head.last ~= fields.last and not is_claim then return false end
  for i = 4, #ARGV do
    redis.call('RPUSH', list(key), fields.next_epoch .. ':' .. ARGV[i])
  end
  head.epoch, head.state, head.ends = fields.next_epoch, fields.next_state, now + fields.lease
  head.last, head.size = head.last + fields.count, head.size + fields.size
  save(head)
  return reply(head)
elseif op == 'read' then
  local head = load(key)
  if not head then return false end
  local first = fields.after + 2
  return reply(head, redis.call('LRANGE', list(key), first, first + fields.limit - 1))
elseif op == 'delete' then
  local head = load(key)
  if head then drop(key, head.owner) end
elseif op == 'expire' then
  local names = {}
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, 200)) do
    if redis.call('EXISTS', list(name)) == 1 then
      names[#names + 1] = name
    else
      redis.call('ZREM', due, name)
    end
  end
  return names
elseif op == 'probe' then
  redis.call('SET', 'jsonrill:probe', now, 'PX', 1000)
end
return false
"""


class RedisStore(Store):
    """Stores each log as a Redis list and uses Redis's clock."""

    remedy = "use another database, or delete the keys jsonrill:* with the logs in them"

    def __init__(self, url: str) -> None:
        super().__init__()
        options = {"socket_timeout": 5, "max_connections": CONNECTIONS, **CONNECTING}
        self._client: Any = redis.asyncio.from_url(url, **options)
        self._listener: Any = redis.asyncio.from_url(url, **CONNECTING)
        self._connections = asyncio.Semaphore(CONNECTIONS)
        self._script = self._client.register_script(SCRIPT)

    async def connect(self) -> int:
        await self._execute(lambda: self._client.set("jsonrill:format", FORMAT, nx=True))
        return int(await self._execute(lambda: self._client.get("jsonrill:format")))

    async def disconnect(self) -> None:
        await self._listener.aclose()
        await self._client.aclose()

    async def try_create(self, key: str, new: NewLog, lease: float) -> Head | None:
        reply = await self._run("create", key, **asdict(new), lease=lease)
        return _head(*reply) if reply else None

    async def try_write(self, key: str, write: Write) -> Head | None:
        reply = await self._run("write", key, *write.records, **write.fields())
        return _head(*reply) if reply else None

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        reply = await self._run("read", key, after=after, limit=limit)
        if not reply:
            return None, []
        *head, items = reply
        rows = []
        for seq, item in enumerate(items, after + 1):
            epoch, _, data = item.partition(b":")
            rows.append(Row(seq, int(epoch), data))
        return _head(*head), rows

    async def delete(self, key: str) -> None:
        await self._run("delete", key)

    async def expire(self) -> list[str]:
        return [key.decode() for key in await self._run("expire", "")]

    async def probe(self) -> None:
        await self._run("probe", "")

    async def _run(self, operation: str, key: str, *records: bytes, **fields: object) -> Any:
        argv: list[str | bytes] = [operation, key, json.dumps(fields), *records]
        return await self._execute(lambda: self._script(args=argv))

    async def _execute(self, command: Callable[[], Awaitable[T]]) -> T:
        try:
            async with self._connections:
                return await command()
        except redis.exceptions.OutOfMemoryError as error:
            raise StoreFull("the memory of Redis is full") from error
        # The client raises errors of many kinds while servers come and go.
        except Exception as error:
            raise StoreUnavailable(f"Redis: {error}") from error

    async def watch_changes(self) -> None:
        async with self._listener.pubsub() as link:
            await link.subscribe("jsonrill:changed")
            pings = 0
            while pings < 2:  # two pings without an answer: the connection is lost
                message = await link.get_message(timeout=5.0)
                pings = pings + 1 if message is None else 0
                if message is None:
                    await link.ping()
                elif message["type"] == "subscribe":
                    self.signals.wake_all()  # listeners may have missed changes
                elif message["type"] == "message":
                    self.signals.wake(message["data"].decode())


def _head(fields: bytes, meta: bytes) -> Head:
    values = json.loads(fields)
    names = ("log", "epoch", "last", "state", "left", "size")
    return Head(**{name: values[name] for name in names}, meta=meta.decode())
