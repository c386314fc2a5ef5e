# SPDX-License-Identifier: Apache-2.0
"""Starting the processes of a job; `run` is the command msrun."""
