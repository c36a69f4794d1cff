"""What the Redis store runs inside Redis, so that each step is atomic. Time is Redis's own.

Per stream there is a hash (owner, meta, last, size, closed, producer, lease, call) and a Redis
stream whose ids are `<seq>-0`; a record's field is `d`, that of the final one `e`. Per owner there
is a sorted set of open streams by the time they expire. Every script answers a list whose first
item is `OK` or the name of a refusal.
"""

from __future__ import annotations

from typing import Final

_PRELUDE: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function found()
  local got = redis.call('HMGET', KEYS[1], 'last', 'size', 'closed', 'producer', 'lease', 'owner')
  if not got[1] then return nil end
  return {last = tonumber(got[1]), size = tonumber(got[2]), closed = got[3] == '1',
          producer = got[4], lease = tonumber(got[5]), owner = got[6]}
end
local function told(it)
  return {'OK', it.owner, redis.call('HGET', KEYS[1], 'meta'), it.last, it.size,
          it.closed and 1 or 0, it.producer, it.lease - now}
end
local function keep(milliseconds)
  redis.call('PEXPIRE', KEYS[1], milliseconds)
  redis.call('PEXPIRE', KEYS[2], milliseconds)
end
"""

# KEYS: hash, log. ARGV: prefix of owners' sets, stream, producer, lease, keep open, then, to make
# it: owner, meta, streams per owner.
ACQUIRE: Final = (
    _PRELUDE
    + """
if ARGV[6] then
  if redis.call('EXISTS', KEYS[1]) == 1 then return {'TAKEN'} end
  local set = ARGV[1] .. ARGV[6]
  redis.call('ZREMRANGEBYSCORE', set, '-inf', now)
  if redis.call('ZCARD', set) >= tonumber(ARGV[8]) then return {'FULL', 'owner_streams'} end
  redis.call('HSET', KEYS[1], 'owner', ARGV[6], 'meta', ARGV[7], 'last', 0, 'size', 0,
             'closed', 0, 'producer', '', 'lease', 0, 'call', '')
end
local it = found()
if not it then return {'UNKNOWN'} end
if it.closed then return {'CLOSED'} end
if it.producer ~= ARGV[3] and it.lease > now then return {'TAKEN'} end
it.producer, it.lease = ARGV[3], now + tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'producer', it.producer, 'lease', it.lease)
local set = ARGV[1] .. it.owner
redis.call('ZADD', set, now + tonumber(ARGV[5]), ARGV[2])
redis.call('PEXPIRE', set, ARGV[5])
keep(ARGV[5])
return told(it)
"""
)

# KEYS: hash, log. ARGV: producer, first or 0, call, lease or 0, keep open, entries, bytes, then
# the records.
# A call whose answer was lost is sent again under the same name and must not add twice.
APPEND: Final = (
    _PRELUDE
    + """
local it = found()
if not it then return {'UNKNOWN'} end
if redis.call('HGET', KEYS[1], 'call') == ARGV[3] then return {'OK', it.last} end
local at, first = 8, tonumber(ARGV[2])
if first > 0 then
  local written = it.last
  if it.closed then written = written - 1 end
  if first > written + 1 then return {'GAP', it.last} end
  at = at + written + 1 - first
  if at > #ARGV then return {'OK', it.last} end
end
if it.closed then return {'CLOSED'} end
if it.producer ~= ARGV[1] and it.lease > now then return {'TAKEN'} end
local size = it.size
for i = at, #ARGV do size = size + #ARGV[i] end
if it.last + #ARGV - at + 1 > tonumber(ARGV[6]) then return {'FULL', 'stream_entries'} end
if size > tonumber(ARGV[7]) then return {'FULL', 'stream_bytes'} end
local last = it.last
for i = at, #ARGV do
  last = last + 1
  redis.call('XADD', KEYS[2], string.format('%d-0', last), 'd', ARGV[i])
end
redis.call('HSET', KEYS[1], 'last', last, 'size', size, 'call', ARGV[3])
if ARGV[4] ~= '0' then
  redis.call('HSET', KEYS[1], 'producer', ARGV[1], 'lease', now + tonumber(ARGV[4]))
end
keep(ARGV[5])
return {'OK', last}
"""
)

# KEYS: hash, log. ARGV: prefix of owners' sets, stream, data, only if lost (1 or 0), keep closed.
FINALIZE: Final = (
    _PRELUDE
    + """
local it = found()
if not it then return {'UNKNOWN'} end
if it.closed or (ARGV[4] == '1' and it.lease > now) then return {'OK', 0} end
redis.call('XADD', KEYS[2], string.format('%d-0', it.last + 1), 'e', ARGV[3])
redis.call('HSET', KEYS[1], 'last', it.last + 1, 'size', it.size + #ARGV[3], 'closed', 1)
redis.call('ZREM', ARGV[1] .. it.owner, ARGV[2])
keep(ARGV[5])
return {'OK', 1}
"""
)

# KEYS: hash.
STATUS: Final = (
    _PRELUDE
    + """
local it = found()
if not it then return {'UNKNOWN'} end
return told(it)
"""
)
