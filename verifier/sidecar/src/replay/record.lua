-- Judges one proof and records it, in one step that nothing comes between (protocol P6, P7, T1).
--
-- KEYS  the epoch; proofs by their end; proofs with their grant; each holder's share; each grant's share
-- ARGV  as `script.rs` writes them; without a proof it is only looked at how the record is
--
-- An epoch is one unbroken record. It is over when the server is another one, was started again or changed its part in
-- replication, when any of it is missing, and when it is older than what the caller has seen of it. Then the next begins,
-- for every replica alike: nothing counts that could have been used before it.
local epoch, ends, used, holders, grants = unpack(KEYS)
local ticket, now, apart, skew, behind = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local most, most_of_holder, most_of_grant = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local most_cleared, keep = tonumber(ARGV[9]), tonumber(ARGV[10])
local seen_id, seen_serial = ARGV[11], tonumber(ARGV[12])
local proof, grant, first_use, ends_at = ARGV[13], ARGV[14], tonumber(ARGV[15]), tonumber(ARGV[16])
local HOLDER = 16 -- bytes of a proof's name that are its holder's

local function told(section, name)
    return string.match(redis.call('INFO', section), name .. ':([^\r\n]*)') or ''
end

if told('replication', 'role') ~= 'master' then return {ticket, 'replica'} end
local time = redis.call('TIME')
local clock = tonumber(time[1])
if math.abs(clock - now) > apart then return {ticket, 'apart'} end
if told('memory', 'maxmemory_policy') ~= 'noeviction' then
    redis.call('DEL', epoch)
    return {ticket, 'eviction'}
end

local server = told('server', 'run_id') .. '/' .. told('replication', 'master_replid')
local old = redis.call('HMGET', epoch, 'server', 'id', 'since', 'floor', 'held', 'latest', 'serial')
local id, since, floor, held, latest, serial =
    old[2], tonumber(old[3]), tonumber(old[4]), tonumber(old[5]), tonumber(old[6]), tonumber(old[7])
local whole = old[1] == server and id and since and floor and held and latest and serial
    and redis.call('ZCARD', ends) == held and redis.call('HLEN', used) == held
    and (held == 0 or redis.call('EXISTS', holders, grants) == 2)
    and not (id == seen_id and serial < seen_serial)
local changed = not whole
if not whole then
    latest = latest or 0
    if latest > clock + behind then return {ticket, 'behind'} end
    redis.call('DEL', ends, used, holders, grants)
    -- A replica whose clock is ahead, as far as that is allowed, may have accepted proofs up to here.
    since = math.max(clock + apart, latest)
    id, floor, held, latest, serial = server .. '/' .. time[1] .. '.' .. time[2], 0, 0, since, 0
end

local function answer(word)
    if changed then
        redis.call('HSET', epoch, 'server', server, 'id', id, 'since', since, 'floor', floor, 'held', held,
            'latest', latest, 'serial', serial)
    end
    return {ticket, word, since, held, floor, id, serial}
end

local function give_back(shares, owner)
    if redis.call('HINCRBY', shares, owner, -1) <= 0 then redis.call('HDEL', shares, owner) end
end

-- What has ended by the slower of both clocks is forgotten, a bounded number at a time; the floor remembers how far.
local ended = redis.call('ZRANGEBYSCORE', ends, '-inf', math.min(now, clock) - skew, 'WITHSCORES', 'LIMIT', 0, most_cleared)
for i = 1, #ended, 2 do
    local gone = ended[i]
    give_back(grants, redis.call('HGET', used, gone))
    give_back(holders, string.sub(gone, 1, HOLDER))
    redis.call('HDEL', used, gone)
    redis.call('ZREM', ends, gone)
    held, floor, changed = held - 1, math.max(floor, tonumber(ended[i + 1])), true
end

if not proof or serial % 1024 == 0 then
    -- Where nobody records any more, nothing stays for ever. What vanishes early is missed by its number.
    for _, key in ipairs({ends, used, holders, grants}) do redis.call('EXPIRE', key, keep) end
end
if not proof then return answer('looked') end

local holder = string.sub(proof, 1, HOLDER)
if first_use <= since then return answer('before') end
if ends_at <= floor then return answer('forgotten') end
if redis.call('ZSCORE', ends, proof) then return answer('replayed') end
if tonumber(redis.call('HGET', holders, holder) or 0) >= most_of_holder then return answer('holder') end
if tonumber(redis.call('HGET', grants, grant) or 0) >= most_of_grant then return answer('grant') end
if held >= most then return answer('full') end
-- The first of these is refused when memory is full, and then none is done.
redis.call('ZADD', ends, ends_at, proof)
redis.call('HSET', used, proof, grant)
redis.call('HINCRBY', holders, holder, 1)
redis.call('HINCRBY', grants, grant, 1)
held, latest, serial, changed = held + 1, math.max(latest, now), serial + 1, true
return answer('recorded')
