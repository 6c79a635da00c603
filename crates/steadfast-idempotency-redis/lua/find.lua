-- KEYS: the record. A plain look.
local version, phase, fence, attempt, fingerprint, till = unpack(redis.call('HMGET',
    KEYS[1], 'version', 'phase', 'fence', 'attempt', 'fingerprint', 'until'))
if version and version ~= '1' then
    return {'version', version}
end
if phase == 'done' then
    return {'done', unpack(redis.call('HMGET',
        KEYS[1], 'fingerprint', 'status', 'headers', 'body', 'method', 'path'))}
elseif phase == 'unknown' then
    return {'unknown', fence, attempt, fingerprint}
elseif phase == 'running' then
    local time = redis.call('TIME')
    local now = math.floor((time[1] * 1000000 + time[2]) / 1000)
    return {'running', string.format('%.0f', math.max(till - now, 0)), fence, attempt, fingerprint}
end
return {'none'}
