# SPDX-License-Identifier: Apache-2.0
"""spore run (python -m spore.run): script.py args, or -m module args, or -c text, or - for standard input, like `python`; but
`import mindspore` gives spore."""
import builtins
import io
import os
import sys
import types
from importlib import import_module

import spore
from spore._keywords import name_keyword
from spore.common._where import users_frames

# Modules that scripts import and no package index has.
_ELSEWHERE = {'moxing': "moxing is there on Huawei's cloud only, to copy files from and to it: give the script paths on this machine, "
                        'or leave out what copies'}
for _name in ('te', 'tbe', 'hccl', 'acl'):
    _ELSEWHERE[_name] = f"{_name} is part of Ascend's own software, for operators and programs of that hardware"
_USAGE = 'usage: spore run (SCRIPT | -m MODULE | -c TEXT | -) [ARGUMENT ...]'


def _fail(text):
    sys.stderr.write(text + '\n')
    return 2


def _main_module(name, **attributes):
    """A fresh __main__, as the interpreter makes one."""
    module = types.ModuleType('__main__')
    module.__dict__.update(__builtins__=builtins, **attributes)
    sys.modules['__main__'] = module
    return module.__dict__


def _without_our_frames(error):
    """The traceback from the script's first line on."""
    trace = error.__traceback__
    while trace is not None and (trace.tb_frame.f_code.co_filename in (__file__, '<frozen runpy>')
                                 or trace.tb_frame.f_globals.get('__name__') == 'runpy'):
        trace = trace.tb_next
    return error.with_traceback(trace)


def _report(error):
    """Show an error that the script did not catch: its own lines, not those of this package between them."""
    _without_our_frames(error)
    name_keyword(error)
    left_out = 0 if os.environ.get('SPORE_TRACEBACK') == 'full' else users_frames(error, set())
    hint = _ELSEWHERE.get(error.name) if isinstance(error, ModuleNotFoundError) else None
    if hint:
        sys.stderr.write(f'({hint})\n')
    if left_out and not isinstance(error, KeyboardInterrupt):  # first: the last line is the error, as always
        sys.stderr.write(f'({left_out} lines inside spore are left out; SPORE_TRACEBACK=full shows them)\n')
    sys.excepthook(type(error), error, error.__traceback__)


def _script(path):
    target = path
    if os.path.isdir(path):
        target = os.path.join(path, '__main__.py')
        if not os.path.exists(target):
            return _fail(f"{sys.executable}: can't find '__main__' module in '{path}'")
    try:
        with io.open_code(os.path.abspath(target)) as file:
            source = file.read()
    except OSError as error:
        return _fail(f"{sys.executable}: can't open file '{os.path.abspath(target)}': [Errno {error.errno}] "
                     f"{error.strerror}")
    sys.path[0] = os.path.dirname(os.path.realpath(target)) if target is path else path
    names = _main_module('__main__', __file__=target, __cached__=None, __loader__=None, __package__=None, __spec__=None)
    exec(compile(source, target, 'exec'), names)
    return 0


def _module(name):
    import runpy
    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name='__main__', alter_sys=True)
    return 0


def _profile(folder):
    """Measure until the end of the program; then write the trace, and a table to the standard error."""
    import atexit
    folder, process = os.path.abspath(folder), os.getpid()
    profiler = spore.Profiler(output_path=folder)

    def end():
        if os.getpid() == process:
            profiler.analyse()
            sys.stderr.write(f"{profiler.table()}\nspore: {os.path.join(folder, 'trace_view.json')} opens in https://ui.perfetto.dev\n")
    atexit.register(end)


def main(arguments):
    """Run what the arguments say; answers the exit status."""
    if not arguments or arguments[0] in ('-h', '--help'):
        print(_USAGE)
        return 0 if arguments else 2
    spore.as_mindspore()
    spore.context.let_cpu_stand_in()
    if os.environ.get('SPORE_EXPLAIN', '0') not in ('', '0'):
        import_module('spore.graph.explain')  # reports at the end, also when nothing is compiled
    if os.environ.get('SPORE_TRACE'):
        _profile(os.environ.pop('SPORE_TRACE'))     # children do not measure themselves
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(spore.__file__)), 'mindspore', 'spawned'))  # for spawned children
    if arguments[0] in ('-m', '-c'):
        if len(arguments) < 2:
            return _fail(f'spore: run: {arguments[0]} needs an argument\n{_USAGE}')
        sys.argv = [arguments[0]] + arguments[2:]
    elif arguments[0].startswith('-') and arguments[0] != '-':
        return _fail(f'spore: run: unknown option {arguments[0]}\n{_USAGE}')
    else:
        sys.argv = list(arguments)
    try:
        if arguments[0] == '-m':
            return _module(arguments[1])
        if arguments[0] in ('-c', '-'):
            source, name = (arguments[1], '<string>') if arguments[0] == '-c' else (sys.stdin.read(), '<stdin>')
            sys.path[0] = ''
            exec(compile(source, name, 'exec'), _main_module('__main__', __loader__=None, __package__=None, __spec__=None))
            return 0
        return _script(arguments[0])
    except SystemExit:
        raise
    except BaseException as error:
        if type(error).__name__ == '_Planned':      # spore plan: the script has been followed as far as is wanted
            return 0
        _report(error)
        if isinstance(error, KeyboardInterrupt):
            import signal
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)  # end as python does: by the signal
        return 1


if __name__ == '__main__':
    _status = main(sys.argv[1:])
    if _status:
        sys.exit(_status)
