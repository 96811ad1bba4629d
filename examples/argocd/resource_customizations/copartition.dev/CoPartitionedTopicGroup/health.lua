-- Argo CD health of a CoPartitionedTopicGroup (copartition.dev). Argo CD shows a resource without such a script as
-- healthy whatever its status says.
local health = {status = "Progressing", message = "waiting for the operator"}
local status = obj.status
if status == nil or status.conditions == nil then
  return health
end

local conditions = {}
for _, condition in ipairs(status.conditions) do
  conditions[condition.type] = condition
end
local ready = conditions["Ready"]
if ready == nil then
  return health
end

-- A verdict on an older spec is no verdict on this one.
if ready.observedGeneration ~= obj.metadata.generation then
  return health
end

health.message = ready.reason
if ready.message ~= nil and ready.message ~= "" then
  health.message = ready.reason .. ": " .. ready.message
end

local stalled = conditions["Stalled"]
if ready.status == "True" then
  health.status = "Healthy"
elseif stalled ~= nil and stalled.status == "True" then
  health.status = "Degraded"
end

-- A paused group that has something left to do waits for people, not for the operator.
local paused = conditions["Paused"]
if paused ~= nil and paused.status == "True" and health.status == "Progressing" then
  health.status = "Suspended"
end
return health
