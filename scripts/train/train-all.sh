#!/bin/sh
# usage: scripts/train/train-all.sh FOLDER: scans, training, package and scores of the bundled wood and leaf model.
set -eu
here=$(dirname "$0")
folder=$1
python=${PYTHON:-/usr/bin/python3}
OMP_NUM_THREADS=1 node "$here/make-scans.mjs" "$folder/crops" 6 1 &
OMP_NUM_THREADS=1 node "$here/make-scans.mjs" "$folder/crops" 6 11
wait $!
# Threads are part of the answer: the same number gives the same bytes. Large blocks stay with the process: no page faults.
export OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1
export MALLOC_MMAP_THRESHOLD_=4000000000 MALLOC_TRIM_THRESHOLD_=16000000000
"$python" "$here/train.py" "$folder/crops" "$folder/wood_leaf_paths.pt" --steps 9600
"$python" "$here/export.py" "$folder/wood_leaf_paths.pt" "$here/../../resources/ml_models" wood_leaf_paths \
  --training "$here/training.json"
"$python" "$here/evaluate.py" "$folder/wood_leaf_paths.pt" --work "$folder/evaluate"
