#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record.sh SPORE_PYTHON MINDSPORE_PYTHON - write, read and append with both frameworks; keep what was said (log.txt) and the
# sums of spore's files (sums.txt). Each argument is a Python interpreter; PYTHONPATH must let the first one find spore.
set -eu
cd "$(dirname "$0")"
spore=$1 mindspore=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/spore" "$work/mindspore"
ours() { "$spore" cross_check_records.py spore "$@"; }
theirs() { env -u PYTHONPATH "$mindspore" cross_check_records.py mindspore "$@" 2>/dev/null; }
{
    ours write "$work/spore"
    ours sums "$work/spore" >sums.txt
    theirs read "$work/spore"
    theirs append "$work/spore"
    ours read_appended "$work/spore"
    theirs write "$work/mindspore"
    ours read "$work/mindspore"
    ours append "$work/mindspore"
    theirs read_appended "$work/mindspore"
} | tee log.txt
