# SPDX-License-Identifier: Apache-2.0
"""Names of MindSpore's parser that programs import."""
from spore._extends.parse import compile_config, standard_method, trope

__all__ = ["compile_config", "standard_method", "trope"]
