#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record.sh SPORE_PYTHON MINDSPORE_PYTHON - write and read with both frameworks, keep MindSpore's file and what was said.
# Each argument is a Python interpreter; PYTHONPATH must let the first one find spore.
set -eu
cd "$(dirname "$0")"
spore=$1 mindspore=$2
rm -f spore.ckpt mindspore.ckpt
{
    "$spore" cross_check.py spore write spore.ckpt
    env -u PYTHONPATH "$mindspore" cross_check.py mindspore read spore.ckpt
    env -u PYTHONPATH "$mindspore" cross_check.py mindspore write mindspore.ckpt
    chmod 644 mindspore.ckpt
    "$spore" cross_check.py spore read mindspore.ckpt
    cmp spore.ckpt mindspore.ckpt && echo "both files are equal, byte for byte"
} | tee log.txt
rm spore.ckpt
