#!/bin/sh
# usage: scripts/train/train-folds.sh FOLDER [STEPS]: models without every third species in build/wood_folds, of the crops
# that train-all.sh left in FOLDER. `npm run accuracy -- wood` has the group `species` then.
set -eu
here=$(dirname "$0")
folder=$1
steps=${2:-2400}
python=${PYTHON:-/usr/bin/python3}
export OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1
for fold in 0 1 2; do
  "$python" "$here/train.py" "$folder/crops" "$folder/fold_$fold.pt" --steps "$steps" --fold "$fold"
  "$python" "$here/export.py" "$folder/fold_$fold.pt" "$here/../../build/wood_folds/fold_$fold" wood_leaf_paths
done
