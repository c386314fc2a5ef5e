# SPDX-License-Identifier: Apache-2.0
"""What the parts of mindrecord share, at MindSpore's address."""
