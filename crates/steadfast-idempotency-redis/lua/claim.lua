-- KEYS: the record. ARGV: owner, fingerprint, lease and lifetime in ms, 1 where it takes over.
-- The states are those of steadfast-idempotency's machine; time is this server's alone.
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)

local version, phase, fence, attempt, owner, fingerprint, till = unpack(redis.call('HMGET',
    KEYS[1], 'version', 'phase', 'fence', 'attempt', 'owner', 'fingerprint', 'until'))
if version and version ~= '1' then
    return {'version', version}
end

-- Doubles hold every integer below 2^53, but Lua prints only 14 digits of them by itself.
local function number(n)
    return string.format('%.0f', n)
end

local function hold(fence, attempt)
    redis.call('HSET', KEYS[1], 'version', '1', 'phase', 'running', 'fence', fence,
        'attempt', attempt, 'owner', ARGV[1], 'fingerprint', ARGV[2],
        'until', number(now + ARGV[3]))
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    return {'held', fence, attempt}
end

-- The time in microseconds keeps fences growing also after the record has expired.
local function run()
    local next = math.max(tonumber(fence or 0) + 1, micros)
    return hold(number(next), number(tonumber(attempt or 0) + 1))
end

if not phase or phase == 'free' then
    return run()
elseif phase == 'running' and owner == ARGV[1] then
    return hold(fence, attempt)
elseif fingerprint ~= ARGV[2] then
    return {'reused'}
elseif phase == 'done' then
    return {'done', unpack(redis.call('HMGET',
        KEYS[1], 'fingerprint', 'status', 'headers', 'body', 'method', 'path'))}
elseif phase == 'running' and now < tonumber(till) then
    return {'running', number(till - now)}
elseif ARGV[5] == '1' then
    return run()
end
redis.call('HSET', KEYS[1], 'phase', 'unknown')
redis.call('HDEL', KEYS[1], 'owner', 'until')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {'unknown', fence, attempt}
