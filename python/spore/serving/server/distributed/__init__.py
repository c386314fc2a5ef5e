# SPDX-License-Identifier: Apache-2.0
"""Models cut over several devices: there are none here, and the calls say so."""

__all__ = ['start_servable', 'startup_agents', 'declare_servable']


def _refuse(name):
    raise RuntimeError(f'distributed.{name}: models over several devices are not served here; export the whole model, and use start_servables')


def start_servable(*args, **kwargs):
    """Refused."""
    _refuse('start_servable')


def startup_agents(*args, **kwargs):
    """Refused."""
    _refuse('startup_agents')


def declare_servable(*args, **kwargs):
    """Refused."""
    _refuse('declare_servable')
