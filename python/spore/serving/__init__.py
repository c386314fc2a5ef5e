# SPDX-License-Identifier: Apache-2.0
"""MindSpore Serving's interface: servables with stages in Python (`server`), and a client (`client`). Under `spore run`, and after `spore.as_mindspore()`,
it is also called `mindspore_serving`."""
