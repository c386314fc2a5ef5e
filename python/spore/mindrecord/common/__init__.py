# SPDX-License-Identifier: Apache-2.0
"""Where scripts import the exceptions of mindrecord from."""
