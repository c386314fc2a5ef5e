# SPDX-License-Identifier: Apache-2.0
"""An address that programs import cell_attr_register from."""
from spore._extends.utils import cell_attr_register

__all__ = ['cell_attr_register']
