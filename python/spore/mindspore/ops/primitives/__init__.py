# SPDX-License-Identifier: Apache-2.0
"""Operators that few programs use, a file a topic; `spore.ops._late` says which name is where."""
