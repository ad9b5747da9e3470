#!/usr/bin/env sh
# The main job, on what release v0.20.0 deployed to an EKS cluster with H100 GPUs for training.
set -eu

aicr=$1
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$here/examples/eks-h100-training-v0.20.0.yaml" "$folder/old-recipe.yaml"
cd "$folder"

show() {
  printf '\n$ aicr %s\n' "$*"
  code=0
  "$aicr" "$@" || code=$?
  [ "$code" -eq 0 ] || printf '(exit %s)\n' "$code"
}

show recipe --service eks --accelerator h100 --intent training -o new-recipe.yaml
show upgrade-check --from old-recipe.yaml --to new-recipe.yaml --deployer helm
[ "$code" -eq 0 ] || [ "$code" -eq 2 ] || exit "$code"
show bundle -r new-recipe.yaml --deployer helm -o ./bundles
[ "$code" -eq 0 ] || exit "$code"

printf '\n$ find bundles -type f | sort\n'
find bundles -type f | sort
