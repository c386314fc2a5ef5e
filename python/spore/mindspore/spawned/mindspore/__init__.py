# SPDX-License-Identifier: Apache-2.0
"""What `import mindspore` finds in a process that multiprocessing spawned from `spore run`: such a process gets the path of
its parent, but not the parent's way of importing. It installs that and stands aside."""
import sys

import spore

del sys.modules['mindspore']  # this module: as_mindspore puts spore in its place
spore.as_mindspore()
sys.modules.setdefault('mindspore', spore)
