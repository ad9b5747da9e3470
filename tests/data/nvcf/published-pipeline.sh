set -euo pipefail
TASK_HOST=$(yq -r '.data.NVCT_SIDECARS_HOSTNAME // ""' "$TASK_RENDER/configmap-env.yaml")
TASK_REPOSITORY=$(yq -r '.data.NVCT_SIDECARS_REPOSITORY // ""' "$TASK_RENDER/configmap-env.yaml")
TASK_IMAGES=$(yq -er '.data["nvct-api.yaml"]' "$TASK_RENDER/configmap-remote-config.yaml" |
yq -o=json '.nvct.sidecars | [."init-container", ."utils-container"]' |
jq -er --arg host "$TASK_HOST" --arg repo "$TASK_REPOSITORY" '
def resolve($key; $value):
if contains($key) then
if $value == "" then error("Missing registry setting: " + $key)
else split($key) | join($value) end
else . end;
map(if type != "string" or length == 0 then error("Missing task image") else . end |
resolve("${nvct.sidecars.hostname}"; $host) |
resolve("${nvct.sidecars.repository}"; $repo) |
if contains("${") then error("Unresolved task image: " + .) else . end) | .[]')
printf '%s\n' "$TASK_IMAGES"
