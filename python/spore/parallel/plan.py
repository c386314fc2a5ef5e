# SPDX-License-Identifier: Apache-2.0
"""``spore plan``: what a training step costs on a number of ranks, predicted. The script runs in one process, as rank 0 of a job that is
simulated (SPORE_SIMULATE), until its training step has been compiled: that program is this rank's part of it, exchanges among its nodes."""
import json
import os
import sys

_USAGE = """usage: spore plan --ranks N [--hosts H] [--json] [--svg FILE] SCRIPT [arguments]

Runs a script as rank 0 of N ranks that are not there, until the first function that changes Parameters has been compiled, and says what a run of it
costs: how Parameters are split, memory of a rank, every exchange, the time of a step and how efficient it is. Nothing is computed for the others.

  --ranks N       ranks of the job
  --hosts H       on so many hosts, equally (default: 1)
  --json          one object
  --svg FILE      also a picture

Times come from figures of this machine: mpirun -n 2 spore bench --comm measures and keeps them. Exchanges between hosts are assumed to take 20 us and
10 Gbit/s; SPORE_LINK=us,gigabits says otherwise."""


class _Planned(BaseException):
    """The step has been compiled: the script is over."""


def _options(words):
    found = {'ranks': None, 'hosts': 1, 'json': False, 'svg': None}
    while words and words[0].startswith('--'):
        name, equals, value = words.pop(0)[2:].partition('=')
        if name == 'help':
            print(_USAGE)
            raise SystemExit(0)
        if name not in found:
            raise ValueError(f"unknown option --{name}")
        if name == 'json':
            found['json'] = True
            continue
        if not equals:
            if not words:
                raise ValueError(f"--{name} needs a value")
            value = words.pop(0)
        if name in ('ranks', 'hosts'):
            if not value.isdecimal() or not 1 <= int(value) <= 65536:
                raise ValueError(f"--{name} must be a number from 1 to 65536, but got {value!r}")
            value = int(value)
        found[name] = value
    if found['ranks'] is None:
        raise ValueError("--ranks is missing: how many ranks will there be?")
    if found['ranks'] % found['hosts']:
        raise ValueError(f"{found['ranks']} ranks cannot be shared out equally to {found['hosts']} hosts")
    if not words:
        raise ValueError("no script given")
    return found, words


def _parameters():
    from spore import _core
    from spore.parallel import _sharding
    rows = []
    for name, param in sorted(_sharding._split_parameters().items()):
        split = _core.tensor_split(param)
        shape = list(split[0] if split else param.shape)
        rows.append({"name": name, "shape": shape, "slices": list(split[1]) if split else [1] * len(shape),
                     "trained": bool(param.requires_grad), "bytes": int(param.size * param.itemsize)})
    return rows


def describe(program):
    """The plan of a program, as a dict; None where it changes no Parameter."""
    from spore import _core
    told = json.loads(_core.program_cost(program))
    if not told['writes']:
        return None
    told['parameters'] = _parameters()
    whole = told['whole_us'] / told['ranks'] if told['split'] else told['compute_us']
    told['efficiency'] = min(1.0, whole / told['step_us']) if told['step_us'] else 1.0
    return told


def _amount(n):
    for unit in ('B', 'kB', 'MB'):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"


def text(told):
    """A plan for people."""
    lines = [f"{told['ranks']} ranks on {told['hosts']} host{'s' * (told['hosts'] > 1)}, predicted from figures of {told['measured_ranks']:.0f} "
             f"rank{'s' * (told['measured_ranks'] > 1)} on a host",
             f"step {told['step_us'] / 1e3:.3f} ms: {told['compute_us'] / 1e3:.3f} computing, {told['exchange_us'] / 1e3:.3f} exchanging; efficiency "
             f"{told['efficiency']:.2f}",
             f"memory of a rank: {_amount(told['variable_bytes'])} for Parameters and states, {_amount(told['peak_bytes'])} at most; "
             f"{_amount(told['sent_bytes'])} sent a step"]
    rows = [row for row in told['parameters'] if row['trained']]
    if rows:
        lines += ["", "Parameters that are trained (shape as a whole, slices of each axis, bytes of a rank)"]
        lines += [f"  {row['name']:<40} {str(tuple(row['shape'])):<20} {str(tuple(row['slices'])):<14} {_amount(row['bytes'])}" for row in rows]
    if told['exchanges']:
        lines += ["", "exchanges (times, ranks, hosts, bytes of a tensor, ms together)"]
        lines += [f"  {row['op']:<20} {row['count']:>5} {row['ranks']:>6} {row['hosts']:>5} {_amount(row['bytes']):>10} {row['us'] / 1e3:>10.3f}"
                  for row in sorted(told['exchanges'], key=lambda row: -row['us'])]
    lines += ["", "operators (times, ms together)"]
    lines += [f"  {row['op']:<28} {row['count']:>5} {row['us'] / 1e3:>10.3f}" for row in sorted(told['operators'], key=lambda row: -row['us'])[:12]]
    return "\n".join(lines)


def svg(told):
    """The time of a step as bars: operators and exchanges, the longest first."""
    from html import escape
    rows = [(row['op'], row['us'], '#4878a8') for row in told['operators']]
    rows += [(f"{row['op']}, {row['ranks']} ranks, {_amount(row['bytes'])}", row['us'], '#d08040') for row in told['exchanges']]
    rows = sorted(rows, key=lambda row: -row[1])[:24]
    most = max((us for _, us, _ in rows), default=1) or 1
    height = 60 + 20 * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" font-family="sans-serif" font-size="12">',
             f'<text x="10" y="22" font-size="15">{told["ranks"]} ranks, {told["hosts"]} hosts: step {told["step_us"] / 1e3:.3f} ms predicted, '
             f'efficiency {told["efficiency"]:.2f}</text>',
             '<text x="10" y="42"><tspan fill="#4878a8">computing</tspan> <tspan fill="#d08040">exchanging</tspan></text>']
    for k, (name, us, colour) in enumerate(rows):
        y = 54 + 20 * k
        parts.append(f'<text x="250" y="{y + 12}" text-anchor="end">{escape(name)}</text><rect x="256" y="{y}" width="{400 * us / most:.1f}" height="15" '
                     f'fill="{colour}"/><text x="{262 + 400 * us / most:.1f}" y="{y + 12}">{us / 1e3:.3f} ms</text>')
    return "\n".join([*parts, "</svg>", ""])


def main(words):
    """Run what the arguments say; answers the exit status."""
    if not words:
        print("spore: plan: a script is missing; see spore plan --help", file=sys.stderr)
        return 2
    try:
        options, script = _options(list(words))
    except ValueError as error:
        print(f"spore: plan: {error}; see spore plan --help", file=sys.stderr)
        return 2
    os.environ['SPORE_SIMULATE'] = f"{options['ranks']}x{options['hosts']}"
    plans = []

    def on_program(program):
        told = describe(program)
        if told is not None:
            plans.append(told)
            raise _Planned
    import spore.graph.compiler
    import spore.run
    spore.graph.compiler.on_program = on_program
    shown = sys.stdout
    sys.stdout = sys.stderr       # what the script prints is not the plan
    try:
        status = spore.run.main(script)
    except SystemExit as end:
        status = end.code
    finally:
        sys.stdout = shown
    if not plans:
        if status:
            return status if isinstance(status, int) else 1
        print("spore: plan: the script has compiled no function that changes Parameters: a training step in GRAPH_MODE, jit or Model.train is wanted",
              file=sys.stderr)
        return 1
    print(json.dumps(plans[0]) if options['json'] else text(plans[0]))
    if options['svg']:
        with open(options['svg'], 'w', encoding='utf-8') as file:
            file.write(svg(plans[0]))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
