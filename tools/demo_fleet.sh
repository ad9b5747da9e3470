#!/usr/bin/env sh
# A fleet of twelve clusters on a Monday morning, and from three releases behind: the plan.
set -eu

aicr=$1
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$here/examples/." "$folder"
cd "$folder"

# Something that needs attention (2) is what there is to see here; anything else is a fault.
show() {
  lines=$1
  shift
  printf '\n$ aicr %s\n' "$*"
  code=0
  "$aicr" "$@" > out.txt || code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 2 ] || exit "$code"
  head -n "$lines" out.txt
  more=$(($(wc -l < out.txt) - lines))
  [ "$more" -le 0 ] || printf '[%s more lines, the steps among them]\n' "$more"
  printf '(exit %s)\n' "$code"
}

show 60 fleet check --clusters fleet.yaml --group-by region
show 1 fleet check --clusters fleet.yaml --format html -o monday.html
show 60 upgrade-plan --from fleet/kubeflow-eu-3.yaml --deployer flux
show 100 upgrade-plan --from three-hops/old-recipe.yaml --deployer helm \
  --catalog three-hops/catalog --from-catalog three-hops/old-catalog -o plan

printf '\n$ find plan -type f | sort\n'
find plan -type f | sort
show 15 upgrade-check --from three-hops/old-recipe.yaml --to plan/stage-1/recipe.yaml \
  --deployer helm --catalog three-hops/catalog
show 10 bundle -r plan/stage-1/recipe.yaml --deployer helm --catalog three-hops/catalog -o stage-1
