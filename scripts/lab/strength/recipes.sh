#!/bin/sh
# What an hour of two cores gains with each recipe: its reduced variant for MINUTES (60), then its best network against its first,
# until an SPRT decides. Prints the table of docs/dev/training-log.md; the same command goes on where it was stopped.
# usage: scripts/lab/strength/recipes.sh [MINUTES [OUT]]     (four hours and the matches)
set -u
minutes=${1:-60} out=${2:-runs/recipes}
cd "$(dirname "$0")/../../.." && mkdir -p "$out"
for recipe in mini-leela razzle neuralmate2 az-go; do
  if [ ! -s "$out/$recipe.txt" ]; then
    PYTHONPATH=scripts/train .venv/bin/python -m sardonyx_train try-recipe --config "scripts/train/configs/loop-$recipe.yaml" \
      --set "run.out=$out/$recipe" --minutes "$minutes" > "$out/$recipe.part"
    tail -n 1 "$out/$recipe.part" | grep -qE 'than it began|nothing to compare' || exit 1 # it was stopped
    mv "$out/$recipe.part" "$out/$recipe.txt"
  fi
  printf '%s: %s\n' "$recipe" "$(tail -n 2 "$out/$recipe.txt" | tr '\n' ' ')"
done
