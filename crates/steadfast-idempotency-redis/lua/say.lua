-- KEYS: the record. ARGV: fence, word, lease and lifetime in ms; to complete also fingerprint,
-- status, headers, body and, where they are known, method and path.
local word = ARGV[2]
local version, phase, fence = unpack(redis.call('HMGET', KEYS[1], 'version', 'phase', 'fence'))
if version and version ~= '1' then
    return {'version', version}
end
if fence ~= ARGV[1] then
    return {'rejected'}
end
-- Said before, and the answer was lost.
if (word == 'complete' and phase == 'done') or (word == 'release' and phase == 'free') then
    return {'accepted'}
end
if phase ~= 'running' and not (phase == 'unknown' and word ~= 'renew') then
    return {'rejected'}
end

if word == 'renew' then
    local time = redis.call('TIME')
    local now = math.floor((time[1] * 1000000 + time[2]) / 1000)
    redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + ARGV[3]))
else
    redis.call('HDEL', KEYS[1], 'owner', 'until')
    if word == 'complete' then
        redis.call('HSET', KEYS[1], 'phase', 'done', 'fingerprint', ARGV[5], 'status', ARGV[6],
            'headers', ARGV[7], 'body', ARGV[8])
        if ARGV[9] then
            redis.call('HSET', KEYS[1], 'method', ARGV[9], 'path', ARGV[10])
        end
    elseif word == 'release' then
        redis.call('HDEL', KEYS[1], 'fingerprint')
        redis.call('HSET', KEYS[1], 'phase', 'free')
    else
        redis.call('HSET', KEYS[1], 'phase', 'unknown')
    end
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {'accepted'}
