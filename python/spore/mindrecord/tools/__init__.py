# SPDX-License-Identifier: Apache-2.0
"""Converters of well-known data sets to MindRecord."""
