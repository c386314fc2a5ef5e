# SPDX-License-Identifier: Apache-2.0
"""Operators that few programs use, a file a topic; mindspore.def says which name is where."""
