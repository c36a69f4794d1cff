"""What the Redis store runs inside Redis, so that each step is atomic. Time is Redis's own.

Per stream there is a hash (owner, meta, last, size, mark, closed, producer, lease, term, calls,
order, `ttl` or `until` if it has a life of its own, and `turn:<producer>` with the epoch and number
of that producer's last request) and a Redis stream whose ids are `<seq>-<mark>`; a record's field
is `d`, that of the final one `e`. Every change is published under the name of the log.

What all streams of one owner, and all streams, take is in two books with the same two keys:
`…:ends`, a sorted set of streams by the time at which their lease runs out or they ended (what is
later than now is being produced, the rest may make room, the oldest first), and `…:sizes`, a hash
of their sizes with the sum under the empty name.

A cluster cannot change keys of two slots in one step. There a stream has room, which it reserves in
the books before it takes it, up to a quarter more than it needs while they are less than three
quarters full; its hash has what it takes (`cost`), what it has reserved (`room`) and which end of
its lease the books know (`told`). So the books are never behind what streams take. When a lease
ends they may learn late: a stream that is to make room is asked whether it has a producer, and what
the books still have of one that is gone is struck then.

`…:pulse` is written by every process again and again. A gap in it means that Redis was down or
could not be written to, so that no lease could be renewed: then leases count from its return.

Every script answers a list whose first item is `OK` or the name of a refusal.
"""

from __future__ import annotations

from typing import Final

# Of the keys and what is in them, as described above; `…:version` says which one is there.
VERSION: Final = 1
TICK_EVERY: Final = 0.5
_GAP_MS: Final = 1500
# The bytes that Redis allocates for the first records of a stream.
FIRST_BYTES: Final = 4000

# KEYS: hash, log, pulse. ARGV: prefix, stream, how long a stream is kept at the most (times are in
# milliseconds), then what each script says.
_STREAM: Final = (
    f"local GAP, FIRST = {_GAP_MS}, {FIRST_BYTES}\n"
    + """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local prefix, stream, longest = ARGV[1], ARGV[2], tonumber(ARGV[3])
local channel = prefix .. ':{' .. stream .. '}:log'
local function returned()
  local pulse = redis.call('HMGET', KEYS[3], 'at', 'back')
  if not pulse[1] or now - tonumber(pulse[1]) > GAP then return now end
  return tonumber(pulse[2])
end
local function held(lease, term)
  return lease > now or returned() + term > now
end
local function found()
  local got = redis.call('HMGET', KEYS[1], 'last', 'size', 'mark', 'closed', 'producer', 'lease',
                         'term', 'owner', 'calls', 'ttl', 'until')
  if not got[1] then return nil end
  return {last = tonumber(got[1]), size = tonumber(got[2]), mark = tonumber(got[3]),
          closed = got[4] == '1', producer = got[5], lease = tonumber(got[6]),
          term = tonumber(got[7]), owner = got[8], calls = got[9],
          ttl = tonumber(got[10] or 0), til = tonumber(got[11] or 0)}
end
local function taken(it, producer)
  return it.producer ~= '' and it.producer ~= producer and held(it.lease, it.term)
end
local function keep(it, milliseconds)
  for _, key in ipairs({KEYS[1], KEYS[2]}) do
    if it.til > 0 then
      redis.call('PEXPIREAT', key, it.til)
    else
      redis.call('PEXPIRE', key, it.ttl > 0 and it.ttl or milliseconds)
    end
  end
end
local function told(it)
  local lost = not it.closed and not held(it.lease, it.term)
  return {'OK', it.owner, redis.call('HGET', KEYS[1], 'meta'), it.last, it.size, it.mark,
          it.closed and 1 or 0, it.producer, it.lease - now, lost and 1 or 0,
          redis.call('PTTL', KEYS[1])}
end
local function cost_of(it, count, size, each)
  return size + count * tonumber(each) + (it.last == 0 and count > 0 and FIRST or 0)
end
local function write(it, field, data, crc)
  it.last, it.size, it.mark = it.last + 1, it.size + #data, (it.mark * 31 + crc) % 4294967296
  local id = string.format('%.0f-%.0f', it.last, it.mark)
  if it.last == 1 then return redis.call('XADD', KEYS[2], id, field, data) end
  return redis.call('XADD', KEYS[2], 'NOMKSTREAM', id, field, data)
end
local function greater(a, b)  -- byte by byte: Lua compares as the locale does
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x > y end
  end
  return #a > #b
end
"""
)
_BOOKS: Final = """
local all = prefix .. ':all'
local function books(owner)
  return {prefix .. ':owner:' .. owner, all}
end
local function grow(owner, cost)
  for _, book in ipairs(books(owner)) do
    redis.call('HINCRBY', book .. ':sizes', stream, cost)
    redis.call('HINCRBY', book .. ':sizes', '', cost)
  end
end
local function ends(it, at)
  local life = 2 * math.max(longest, it.ttl, it.til - now)
  for _, book in ipairs(books(it.owner)) do
    redis.call('ZADD', book .. ':ends', at, stream)
    if redis.call('PTTL', book .. ':ends') < life + 60000 then
      redis.call('PEXPIRE', book .. ':ends', life + 90000)
      redis.call('PEXPIRE', book .. ':sizes', life + 90000)
    end
  end
end
local function strike(book, name)
  local cost = redis.call('HGET', book .. ':sizes', name)
  if cost then
    redis.call('HDEL', book .. ':sizes', name)
    redis.call('HINCRBY', book .. ':sizes', '', -cost)
  end
  redis.call('ZREM', book .. ':ends', name)
end
local function forget(name)
  local key = prefix .. ':{' .. name .. '}'
  local owner = redis.call('HGET', key .. ':meta', 'owner')
  if owner then strike(prefix .. ':owner:' .. owner, name) end
  strike(all, name)
  redis.call('DEL', key .. ':meta', key .. ':log')
  redis.pcall('PUBLISH', key .. ':log', '')
end
local function evict(book)
  local old = redis.call('ZRANGEBYSCORE', book .. ':ends', '-inf', now, 'LIMIT', 0, 20)
  for _, name in ipairs(old) do
    local got = redis.call('HMGET', prefix .. ':{' .. name .. '}:meta', 'closed', 'lease', 'term')
    local live = got[1] == '0' and held(tonumber(got[2]), tonumber(got[3]))
    if name ~= stream and not live then
      forget(name)
      strike(book, name)
      return true
    end
  end
  return false
end
local function no_room(owner, cost, of_owner, of_all)
  local limits = {tonumber(of_owner), tonumber(of_all)}
  for at, book in ipairs(books(owner)) do
    while tonumber(redis.call('HGET', book .. ':sizes', '') or 0) + cost > limits[at] do
      if not evict(book) then return {'FULL', at == 1 and 'owner_bytes' or 'total_bytes'} end
    end
  end
end
local function admit(owner, cost)
  for _, book in ipairs(books(owner)) do
    local gone = redis.call('ZRANGEBYSCORE', book .. ':ends', '-inf', now - longest,
                            'LIMIT', 0, 100)
    for _, name in ipairs(gone) do
      if redis.call('EXISTS', prefix .. ':{' .. name .. '}:meta') == 1 then
        redis.call('ZADD', book .. ':ends', now, name)  -- it has a longer life of its own
      else
        forget(name)
        strike(book, name)
      end
    end
  end
  local mine = redis.call('ZCOUNT', prefix .. ':owner:' .. owner .. ':ends', '(' .. now, '+inf')
  if mine >= tonumber(ARGV[12]) then return {'FULL', 'owner_streams'} end
  local full = no_room(owner, cost, ARGV[13], ARGV[15])
  if full then return full end
  if redis.call('ZCARD', all .. ':ends') >= tonumber(ARGV[14]) and not evict(all) then
    return {'FULL', 'total_streams'}
  end
end
"""
# The same functions where the books are elsewhere. `report` is what they are to be told.
_RESERVED: Final = """
local report, whose = '', ''
local function grow(owner, cost)
  redis.call('HINCRBY', KEYS[1], 'cost', cost)
end
local function ends(it, at)
  local told = tonumber(redis.call('HGET', KEYS[1], 'told') or 0)
  if at < told or told - now < (at - now) / 2 then
    redis.call('HSET', KEYS[1], 'told', at)
    report, whose = at, it.owner
  end
end
local function forget()
  local owner = redis.call('HGET', KEYS[1], 'owner')
  if owner then report, whose = 'gone', owner end
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.pcall('PUBLISH', channel, '')
end
local function no_room(owner, cost)
  local got = redis.call('HMGET', KEYS[1], 'cost', 'room')
  local needs = tonumber(got[1]) + cost
  if needs > tonumber(got[2]) then return {'ROOM', owner, needs} end
end
local function admit(owner, cost)  -- it was reserved before
  redis.call('HSET', KEYS[1], 'cost', 0, 'room', cost)
end
"""
_WRITE_ALL: Final = """
-- Writes the records ARGV[at], data after CRC; the last one is the end, if the log is to be closed.
local function write_all(it, at, ending)
  for i = at, #ARGV, 2 do
    local field = ending and i + 1 == #ARGV and 'e' or 'd'
    if not write(it, field, ARGV[i + 1], tonumber(ARGV[i])) then return false end
  end
  redis.call('HSET', KEYS[1], 'last', it.last, 'size', it.size, 'mark', it.mark)
  if ending then
    it.closed, it.lease = true, now
    redis.call('HSET', KEYS[1], 'closed', 1, 'lease', now)
    ends(it, now)
  end
  return true
end
"""
_PRELUDE: Final = _STREAM + _BOOKS + _WRITE_ALL


def for_cluster(script: str) -> str:
    """Return a script that answers what its books are to be told, and what it answers otherwise.

    The last argument is the room that was reserved for the stream, or 0.
    The books get: when the lease ends, `gone`, or nothing; the owner; the size of a closed stream,
    or 0; how long the stream lives, if it has a life of its own.
    """
    body = script.removeprefix(_PRELUDE)
    return (
        f"local room = tonumber(table.remove(ARGV))\n{_STREAM}{_RESERVED}{_WRITE_ALL}"
        f"local function run()\n{body}end\n"
        + """
if room > tonumber(redis.call('HGET', KEYS[1], 'room') or room) then
  redis.call('HSET', KEYS[1], 'room', room)
end
local answer, size, life = run(), 0, 0
if report ~= '' and report ~= 'gone' then
  local got = redis.call('HMGET', KEYS[1], 'closed', 'cost', 'ttl', 'until')
  if got[1] == '1' then
    size = tonumber(got[2])
    redis.call('HSET', KEYS[1], 'room', size)
  end
  life = math.max(tonumber(got[3] or 0), tonumber(got[4] or 0) - now)
end
return {report, whose, size, life, answer}
"""
    )


# ARGV: producer, lease, keep open; then, to make it: owner, meta, mark, name of the call, cost,
# streams and bytes per owner, streams and bytes in all, whether one that has ended is replaced, its
# own time to live and its fixed end (or 0), keep closed, whether the last record ends it (1 or 0),
# then each record's CRC and data.
# A call whose answer was lost is sent again under the same name and must not make or add twice.
ACQUIRE: Final = (
    _PRELUDE
    + """
local producer, lease, open = ARGV[4], tonumber(ARGV[5]), ARGV[6]
local it = found()
if ARGV[7] then
  if it and string.find(it.calls, ARGV[10], 1, true) then return told(it) end
  if it and not (it.closed and ARGV[16] == '1') then return {'TAKEN'} end
  if it then forget(stream) end
  local owner, cost = ARGV[7], tonumber(ARGV[11]) + (ARGV[21] and FIRST or 0)
  local full = admit(owner, cost)
  if full then return full end
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'owner', owner, 'meta', ARGV[8], 'last', 0, 'size', 0, 'mark',
             ARGV[9], 'closed', 0, 'producer', '', 'lease', 0, 'term', 0, 'calls', ARGV[10],
             'ttl', ARGV[17], 'until', ARGV[18])
  grow(owner, cost)
  it = found()
end
if not it then return {'UNKNOWN'} end
if it.closed then return {'CLOSED'} end
if taken(it, producer) then return {'TAKEN'} end
it.producer, it.lease, it.term = producer, now + lease, lease
redis.call('HSET', KEYS[1], 'producer', it.producer, 'lease', it.lease, 'term', it.term)
ends(it, it.lease)
if ARGV[21] then write_all(it, 21, ARGV[20] == '1') end
keep(it, it.closed and ARGV[19] or open)
if redis.call('EXISTS', KEYS[1]) == 0 then return {'UNKNOWN'} end
return told(it)
"""
)

# ARGV: producer, name of the call or nothing, how many names are kept (in characters), lease or 0,
# keep open, entries and bytes of a stream, bytes of an owner and in all, cost of a
# record, the numbered producer or nothing, its epoch and number, how many such producers there may
# be, the cost of one, the order or nothing, whether the last record ends the stream (1 or 0), keep
# closed, then for each record its CRC and its data.
APPEND: Final = (
    _PRELUDE
    + """
local producer, call, lease = ARGV[4], ARGV[5], tonumber(ARGV[7])
local who, epoch, seq, order = ARGV[14], tonumber(ARGV[15]), tonumber(ARGV[16]), ARGV[19]
local ending = ARGV[20] == '1'
local it = found()
if not it then return {'UNKNOWN'} end
if call ~= '' and string.find(it.calls, call, 1, true) then return {'OK', it.last, it.mark} end
local turned = 0
if who ~= '' then
  local had = redis.call('HGET', KEYS[1], 'turn:' .. who)
  local its_epoch, its_seq = string.match(had or '-1 -1', '^(%S+) (%S+)$')
  its_epoch, its_seq = tonumber(its_epoch), tonumber(its_seq)
  if epoch < its_epoch or seq ~= (epoch == its_epoch and its_seq + 1 or 0) then
    return {'TURN', its_epoch, its_seq, it.last, it.mark, it.closed and 1 or 0}
  end
  if not had then
    local count = redis.call('HGET', KEYS[1], 'producers')
    if tonumber(count or 0) >= tonumber(ARGV[17]) then return {'FULL', 'stream_producers'} end
    turned = tonumber(ARGV[18])
  end
end
local at, stop = 22, #ARGV - (ending and 2 or 0)
if it.closed then return {'CLOSED'} end
if order ~= '' and not greater(order, redis.call('HGET', KEYS[1], 'order') or '') then
  return {'ORDER'}
end
if taken(it, producer) then return {'TAKEN'} end
local count, size = (stop - at + 1) / 2, 0
for i = at + 1, stop, 2 do size = size + #ARGV[i] end
if it.last + count > tonumber(ARGV[9]) then return {'FULL', 'stream_entries'} end
if it.size + size > tonumber(ARGV[10]) then return {'FULL', 'stream_bytes'} end
if ending then count, size = count + 1, size + #ARGV[#ARGV] end
local cost = cost_of(it, count, size, ARGV[13]) + turned
local full = no_room(it.owner, cost, ARGV[11], ARGV[12])
if full then return full end
if lease > 0 and not ending then
  redis.call('HSET', KEYS[1], 'producer', producer, 'lease', now + lease, 'term', lease)
  ends(it, now + lease)
end
if not write_all(it, at, ending) then return {'LOST'} end
if call ~= '' then
  redis.call('HSET', KEYS[1], 'calls', string.sub(it.calls .. call, -ARGV[6]))
end
if who ~= '' then
  redis.call('HSET', KEYS[1], 'turn:' .. who, string.format('%.0f %.0f', epoch, seq))
  if turned > 0 then redis.call('HINCRBY', KEYS[1], 'producers', 1) end
end
if order ~= '' then redis.call('HSET', KEYS[1], 'order', order) end
grow(it.owner, cost)
keep(it, ending and ARGV[21] or ARGV[8])
redis.pcall('PUBLISH', channel, it.last)
return {'OK', it.last, it.mark}
"""
)

# ARGV: data, its CRC, only if lost (1 or 0), keep closed, cost of a record.
FINALIZE: Final = (
    _PRELUDE
    + """
local it = found()
if not it then return {'UNKNOWN'} end
if it.closed or (ARGV[6] == '1' and held(it.lease, it.term)) then return {'OK', 0} end
local cost = cost_of(it, 1, #ARGV[4], ARGV[8])
write(it, 'e', ARGV[4], tonumber(ARGV[5]))
redis.call('HSET', KEYS[1], 'last', it.last, 'size', it.size, 'mark', it.mark, 'closed', 1,
           'lease', now)
grow(it.owner, cost)
ends(it, now)
keep(it, ARGV[7])
redis.pcall('PUBLISH', channel, it.last)
return {'OK', 1}
"""
)

# ARGV: lease, keep open, keep closed.
TOUCH: Final = (
    _PRELUDE
    + """
local it = found()
if not it then return {'UNKNOWN'} end
if not it.closed and it.til == 0 then
  local lease = tonumber(ARGV[4])
  redis.call('HSET', KEYS[1], 'lease', now + lease, 'term', lease)
  ends(it, now + lease)
end
keep(it, it.closed and ARGV[6] or ARGV[5])
return {'OK'}
"""
)

# ARGV: the first record that is wanted, and how many.
LOOK: Final = (
    _PRELUDE
    + """
local got = redis.call('HMGET', KEYS[1], 'last', 'mark', 'closed')
if not got[1] then return {'UNKNOWN'} end
local entries = {}
if tonumber(got[1]) >= tonumber(ARGV[4]) then
  entries = redis.call('XRANGE', KEYS[2], ARGV[4], '+', 'COUNT', ARGV[5])
end
return {'OK', got[1], got[2], got[3], entries}
"""
)

STATUS: Final = (
    _PRELUDE
    + """
local it = found()
if not it then return {'UNKNOWN'} end
return told(it)
"""
)

DELETE: Final = (
    _PRELUDE
    + """
forget(stream)
return {'OK'}
"""
)

TICK: Final = (
    _PRELUDE
    + """
redis.call('HSET', KEYS[3], 'back', returned(), 'at', now)
return {'OK'}
"""
)

# ---- a cluster's own ----

# Answers when the lease of a stream ends; one that has ended or was abandoned is deleted.
EVICT: Final = (
    _PRELUDE
    + """
local it = found()
if not it then return {'OK', 'gone', ''} end
if not it.closed and held(it.lease, it.term) then return {'OK', it.lease, it.owner} end
forget(stream)
return {'OK', 'gone', it.owner}
"""
)

# KEYS: ends and sizes of one book. ARGV: stream, how long the book is kept.
_BOOK: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local name, life = ARGV[1], tonumber(ARGV[2])
local had = tonumber(redis.call('HGET', KEYS[2], name) or 0)
local function set(size, at)
  redis.call('HSET', KEYS[2], name, size)
  redis.call('HINCRBY', KEYS[2], '', size - had)
  if at then redis.call('ZADD', KEYS[1], at, name) end
  if redis.call('PTTL', KEYS[1]) < life then
    redis.call('PEXPIRE', KEYS[1], life + 30000)
    redis.call('PEXPIRE', KEYS[2], life + 30000)
  end
end
"""

# ARGV: what the stream needs in all, and what it would like to have; the bound on bytes; to make a
# stream also its lease and the bounds on open streams and on streams, or nothing.
# Answers OK and what it has now, or the bound in its way and streams that may make room for it.
RESERVE: Final = (
    _BOOK
    + """
local needs, wish, most = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local lease, most_open, most_streams = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local score = tonumber(redis.call('ZSCORE', KEYS[1], name) or 0)
local function refused(bound)
  return {bound, unpack(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 20))}
end
if most_open then
  local open = redis.call('ZCOUNT', KEYS[1], '(' .. now, '+inf') - (score > now and 1 or 0)
  if open >= most_open then return {'open'} end
end
local others = tonumber(redis.call('HGET', KEYS[2], '') or 0) - had
if others + wish > most * 0.75 then wish = needs end
if others + wish > most then return refused('bytes') end
if most_streams and score == 0 and redis.call('ZCARD', KEYS[1]) >= most_streams then
  return refused('streams')
end
if lease then
  set(wish, now + tonumber(lease))
else
  set(math.max(wish, had), score == 0 and now or nil)
end
return {'OK', redis.call('HGET', KEYS[2], name)}
"""
)

# ARGV: when the stream's lease ends, or `gone`; the size of one that is closed, else 0.
REPORT: Final = (
    _BOOK
    + """
local size = tonumber(ARGV[4])
if ARGV[3] ~= 'gone' then
  set(size > 0 and size or had, ARGV[3])
elseif redis.call('HDEL', KEYS[2], name) == 1 then
  redis.call('HINCRBY', KEYS[2], '', -had)
end
if ARGV[3] == 'gone' then redis.call('ZREM', KEYS[1], name) end
return {'OK'}
"""
)
