-- Argo CD health of a KafkaConnection (copartition.dev).
local status = obj.status
if status == nil or status.conditions == nil then
  -- An operator that watches some namespaces reports on the connections that their groups name, and on no other: one
  -- that nobody uses yet must not hold up a sync for ever.
  return {status = "Healthy", message = "no operator has reported on it yet"}
end

local ready = nil
for _, condition in ipairs(status.conditions) do
  if condition.type == "Ready" then
    ready = condition
  end
end
if ready == nil or ready.observedGeneration ~= obj.metadata.generation then
  return {status = "Progressing", message = "waiting for the operator"}
end

local health = {status = "Progressing", message = ready.reason}
if ready.message ~= nil and ready.message ~= "" then
  health.message = ready.reason .. ": " .. ready.message
end
-- What does not heal by itself; a Secret that is missing or a broker that is away may come.
local final = {InvalidSpec = true, AuthenticationFailed = true, CertificateRejected = true}
if ready.status == "True" then
  health.status = "Healthy"
elseif final[ready.reason] then
  health.status = "Degraded"
end
return health
