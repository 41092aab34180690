#!/bin/sh
# usage: scripts/train/train-all.sh FOLDER: scans, training, package and scores of the bundled wood and leaf model.
set -eu
here=$(dirname "$0")
folder=$1
python=${PYTHON:-/usr/bin/python3}
export OMP_NUM_THREADS=1
node "$here/make-scans.mjs" "$folder/crops" 3 1
node "$here/make-scans.mjs" "$folder/crops" 1 6 almond,apple,olive,pistachio,walnut,easternredbud,grapevine_VSP
node "$here/make-scans.mjs" "$folder/crops" 2 11 red_oak,american_beech,sugar_maple,olive,white_pine,almond,norway_spruce,walnut
"$python" "$here/train.py" "$folder/crops" "$folder/wood_leaf_paths.pt" --steps 400
"$python" "$here/export.py" "$folder/wood_leaf_paths.pt" "$here/../../resources/ml_models" wood_leaf_paths
"$python" "$here/evaluate.py" "$folder/wood_leaf_paths.pt" --work "$folder/evaluate"
