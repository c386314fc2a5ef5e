# SPDX-License-Identifier: Apache-2.0
"""Memory of a training step, the same way for every framework: how far the process's resident memory rises over what it has when the
framework is imported and network, optimizer and data are there. Gradients, the optimizer's moments, activations, scratch and whatever the
framework loads late are all in it."""
STEPS = 3


def status(key):
    """A line of /proc/self/status, in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key + ":"))


def rise(step):
    before = status("VmRSS")
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # the highest resident memory counts from here
    for _ in range(STEPS):
        step()
    return status("VmHWM") - before
