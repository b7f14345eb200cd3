#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A sweep as jobs of the queue: trainings of cnn_digits.py, each with a batch size, a width and a number of
# loading workers drawn at random. After 20 of them `docker flowcon estimate` knows what the next one needs.
#
# usage: sweep.sh RUNS SEED [OPTIONS OF docker flowcon submit] IMAGE
#   examples/sweep.sh 30 1 -v "$PWD/examples:/examples:ro" my-image
set -eu
[ $# -ge 3 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
runs=$1 seed=$2
shift 2
awk -v seed="$seed" -v runs="$runs" 'BEGIN {
  srand(seed)
  for (i = 1; i <= runs; ++i) print i, int(16 * 2 ^ (rand() * 5)), int(16 * 10 ^ rand()), int(rand() * 4)
}' | while read -r number batch width workers; do
  docker flowcon submit --name "sweep-$seed-$number" "$@" python3 /examples/cnn_digits.py --epochs 6 \
    --batch "$batch" --width "$width" --workers "$workers"
done
