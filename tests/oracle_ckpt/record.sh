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
    for mode in AES-GCM AES-CBC SM4-CBC; do
        "$spore" cross_check.py spore write "spore_$mode.ckpt" $mode
        env -u PYTHONPATH "$mindspore" cross_check.py mindspore read "spore_$mode.ckpt" $mode
        env -u PYTHONPATH "$mindspore" cross_check.py mindspore write "mindspore_$mode.ckpt" $mode
        "$spore" cross_check.py spore read "mindspore_$mode.ckpt" $mode
    done
    "$spore" cross_check.py spore write spore.safetensors
    env -u PYTHONPATH "$mindspore" cross_check.py mindspore read spore.safetensors
    env -u PYTHONPATH "$mindspore" cross_check.py mindspore write mindspore.safetensors
    "$spore" cross_check.py spore read mindspore.safetensors
    cmp spore.safetensors mindspore.safetensors && echo "both files are equal, byte for byte"
} | tee log.txt
rm -f spore.ckpt spore_*.ckpt mindspore_*.ckpt spore.safetensors mindspore.safetensors
