# SPDX-License-Identifier: Apache-2.0
"""A function that cannot be captured whole, rewritten as Python code that calls pieces of it.

    def f(x):                                    def f(x):
        y = net(x)                                   y, = pieces.run(0, locals())
        y = ops.relu(y)
        a = np.sort(y.asnumpy())      becomes        a = pieces.wrap(np.sort)(pieces.wrap(y.asnumpy)())
        z = Tensor(a) @ x                            return pieces.run(1, locals())
        return z * 2

Python itself runs the rewritten function, so loops, exceptions, generators of others and everything else are what they always are.
A piece is a run of statements that control can only leave at the end; it becomes a function of the names it reads, is captured
when it is first reached, and may be split further. The statement that was in the way is opened: of a compound one the blocks
inside are cut into pieces, in a simple one the functions called are captured on their own. What stands in a ``try`` stays
with Python as it is, since an exception in the middle of a piece would lose the names set before it.

A function that stops in a debugger (``breakpoint()``, ``pdb.set_trace()``) is cut at each stop. Its pieces give all the names that they set,
for the user to look at, and behind the first stop every statement is a piece of its own, so that ``next`` goes from line to line.
"""
import ast
import copy
import types

from spore.graph import source

__all__ = ["Leave", "Split", "split"]

HOLDER = "__spore__"         # the name by which rewritten code reaches its pieces
_NATIVE = tuple(getattr(ast, name) for name in (
    "FunctionDef", "AsyncFunctionDef", "ClassDef", "Import", "ImportFrom", "Global", "Nonlocal", "Delete", "Pass", "Match", "Try",
    "TryStar", "AsyncFor", "AsyncWith") if hasattr(ast, name))
_BLOCKS = (ast.For, ast.While, ast.If, ast.With)
_WORK = (ast.Call, ast.BinOp, ast.Compare, ast.UnaryOp, ast.Subscript, ast.AugAssign)
DEBUGGERS = {"pdb", "ipdb", "pudb", "bdb", "web_pdb", "debugpy", "pydevd"}
STOPS = {"set_trace", "breakpoint", "settrace"}
_NEVER_WRAPPED = {"breakpoint", "super", "locals", "vars", "dir", "eval", "exec", "globals"}


class Leave(ast.stmt):
    """The end of a piece: it gives the values of ``names``."""
    _fields = ("names",)


class Cut:
    """A piece: a function of the names it reads that returns those it sets, or, at the end of a function, its result."""

    def __init__(self, name, node, reads):
        self.name, self.node, self.reads = name, node, reads


class Split:
    """A function in pieces: ``make(holder)`` gives it as Python code whose pieces are run by the holder."""

    def __init__(self, function, file, lines, tree, cuts):
        self.function, self.file, self.lines, self.tree, self.cuts = function, file, lines, tree, cuts

    def make(self, holder):
        return python_function(self.function, self.tree, self.file, holder)

    def piece(self, cut, holder):
        """The function of a piece, with its syntax tree known to the capture."""
        made = python_function(self.function, _as_python(cut.node), self.file, holder, defaults=False)
        code = source.Code(cut.node, self.file, self.lines, cut.name)
        code.own_names = frozenset(made.__code__.co_varnames) | frozenset(made.__code__.co_cellvars)
        source.register(made.__code__, code)
        return made


def python_function(like, node, file, holder, defaults=True):
    """A function from a syntax tree that has the globals and the cells of another one."""
    cells = dict(zip(like.__code__.co_freevars, like.__closure__ or ()))
    cells[HOLDER] = types.CellType(holder)
    outer = ast.FunctionDef(name="around", args=_arguments(list(cells)), body=[node], decorator_list=[], returns=None,
                            type_comment=None, type_params=[], lineno=node.lineno, end_lineno=node.end_lineno, col_offset=0)
    module = ast.fix_missing_locations(ast.Module(body=[outer], type_ignores=[]))
    flags = like.__code__.co_flags & 0x1ff0000           # of `from __future__`
    made = compile(module, file, "exec", flags=flags, dont_inherit=True)
    for name in ("around", node.name):
        made = next(c for c in made.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    function = types.FunctionType(made, like.__globals__, node.name, like.__defaults__ if defaults else None,
                                  tuple(cells[name] for name in made.co_freevars))
    function.__kwdefaults__ = like.__kwdefaults__ if defaults else None
    function.__qualname__, function.__module__ = like.__qualname__, like.__module__
    return function


def _arguments(names):
    return ast.arguments(posonlyargs=[], args=[ast.arg(arg=n) for n in names], vararg=None, kwonlyargs=[], kw_defaults=[],
                         kwarg=None, defaults=[])


# --- names -----------------------------------------------------------------------------------------------------------

def loads(statements):
    """Every name that stands in the statements, functions inside included."""
    names = set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                names.add(node.id)
                if node.id == "super":
                    names.add("__class__")
            elif isinstance(node, Leave):
                names.update(node.names)
    return names


def stores(statements):
    """Names that the statements bind or delete, in the order they are met."""
    names = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                names[node.id] = None
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names[node.name] = None
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names.update((a.asname or a.name.partition(".")[0], None) for a in node.names)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                names[node.name] = None
    return list(names)


def _certainly_set(statements):
    """Names that have a value when control gets to the end."""
    names = set()
    for node in statements:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def imports_debugger(node):
    """Whether a statement does nothing but import debuggers: it is allowed where others of its kind are not."""
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").partition(".")[0] in DEBUGGERS
    return isinstance(node, ast.Import) and all(a.name.partition(".")[0] in DEBUGGERS for a in node.names)


def _stops(node):
    """Whether a debugger may stop in a statement, as far as its text tells."""
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            name = one.func.id if isinstance(one.func, ast.Name) else getattr(one.func, "attr", "")
            if name in STOPS:
                return True
    return imports_debugger(node)


# --- rewriting -------------------------------------------------------------------------------------------------------

def _is_suspended(node):
    """Whether a function gives control away in the middle: a generator or a coroutine."""
    stack = list(node.body)
    while stack:
        one = stack.pop()
        if isinstance(one, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return True
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(one))
    return isinstance(node, ast.AsyncFunctionDef)


def split(function, code, line):
    """Cut a function around the statement that stands in ``line``; None when there is nothing to cut."""
    node = code.node
    if code.is_lambda or _is_suspended(node):
        return None
    at = next((i for i, s in enumerate(node.body) if s.lineno <= line <= s.end_lineno), None)
    if at is None:
        return None
    return _Rewriter(function, code).rewrite(at)


class _Rewriter:
    """Rewrites one function."""

    def __init__(self, function, code):
        self.function, self.code = function, code
        self.own = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)
        self.body = code.node.body
        declared = [n for s in self.body for n in ast.walk(s) if isinstance(n, (ast.Global, ast.Nonlocal))]
        self.declared = {name for node in declared for name in node.names}
        self.deleted = {n.id for s in self.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
        self.cuts = []
        self.stops = any(_stops(s) for s in self.body)
        self.by_line = False             # a piece for every statement

    def rewrite(self, at):
        before, here, after = self.body[:at], self.body[at], self.body[at + 1:]
        made = self.block(before) + self.open(here)
        made += self.block(after) if self.stops else self.tail(after)
        if not self.cuts and not any(isinstance(n, ast.Call) for n in ast.walk(here)):
            return None
        node = self.code.node
        args = _clone(node.args)
        for one in ast.walk(args):
            if isinstance(one, ast.arg):
                one.annotation = None
        args.defaults = [ast.Constant(value=None) for _ in args.defaults]
        args.kw_defaults = [d and ast.Constant(value=None) for d in args.kw_defaults]
        tree = ast.FunctionDef(name=node.name, args=args, body=self.prelude() + made or [ast.Pass()], decorator_list=[],
                               returns=None, type_comment=None, type_params=[], lineno=node.lineno, end_lineno=node.end_lineno,
                               col_offset=0)
        return Split(self.function, self.code.file, self.code.lines, tree, self.cuts)

    def prelude(self):
        """Names of the function's cells stay its own, whether the rewritten code speaks of them or not; a piece that is split
        begins by forgetting the names that had no value."""
        made = []
        frees = [n for n in self.function.__code__.co_freevars if n != HOLDER]
        if frees:
            names = [ast.Name(id=n, ctx=ast.Load()) for n in frees]
            made.append(ast.If(test=ast.Constant(value=False), body=[ast.Expr(value=e) for e in names], orelse=[]))
        if hasattr(self.code, "own_names"):
            made += _forget(self.code.positional)
        for one in made:
            ast.copy_location(one, self.code.node)
        return made

    # --- blocks ------------------------------------------------------------------------------------------------------

    def block(self, statements):
        """Statements in the middle of a function: what can be a piece becomes one, the rest is opened."""
        made, run = [], []
        for node in statements:
            if self.is_plain(node) and not (self.by_line and run):
                run.append(node)
                continue
            made += self.piece(run)
            run = [node] if self.is_plain(node) else []
            if not run:
                made += self.open(node)
        return made + self.piece(run)

    def is_plain(self, node):
        """Whether a statement may be part of a piece."""
        if self.stops and _stops(node):
            return False
        if isinstance(node, _NATIVE + (Leave, ast.Return, ast.Break, ast.Continue, ast.Raise)) or source.escapes([node]):
            return False
        if any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(node)):
            return False
        return not self.declared & set(stores([node]))

    def piece(self, statements):
        """A call of a piece, or the statements as they are when there is nothing to gain."""
        if not any(isinstance(n, _WORK) for s in statements for n in ast.walk(s)):
            return [native(s) for s in statements]
        inside = {id(n) for s in statements for n in ast.walk(s)}
        reads = loads(statements) & self.own
        outside = set()
        for statement in self.body:
            for node in ast.walk(statement):
                if id(node) in inside:
                    continue
                if isinstance(node, ast.Name):
                    outside.add(node.id)
                elif isinstance(node, Leave):
                    outside.update(node.names)
        sets = [n for n in stores(statements) if n in self.own and (self.stops or n in outside or self.is_read_first(n, statements))]
        end = ast.copy_location(Leave(names=sets), statements[-1])
        call = self.cut(statements + [end], reads, statements[0])
        if not sets:
            return [ast.copy_location(ast.Expr(value=call), statements[0])]
        target = ast.Tuple(elts=[ast.Name(id=n, ctx=ast.Store()) for n in sets], ctx=ast.Store())
        made = [ast.copy_location(ast.Assign(targets=[target], value=call, type_comment=None), statements[0])]
        certain = _certainly_set(statements) - self.deleted
        return made + [ast.copy_location(s, statements[-1]) for s in _forget([n for n in sets if n not in certain])]

    @staticmethod
    def is_read_first(name, statements):
        """Whether the name may be read before the statements set it: then a loop around them carries it."""
        for node in statements:
            if name in loads([node]):
                simple = isinstance(node, ast.Assign) and not any(
                    isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.value)) and all(
                    isinstance(t, ast.Name) for t in node.targets)
                return not simple
        return False

    def tail(self, statements):
        """The rest of a function: one piece, whose result is the function's."""
        if not statements:
            return []
        if self.declared or any(isinstance(n, _NATIVE) and not isinstance(n, ast.Pass) for s in statements for n in ast.walk(s)):
            return self.block(statements)
        if not any(isinstance(n, _WORK) for s in statements for n in ast.walk(s)):
            return [native(s) for s in statements]
        call = self.cut(statements, loads(statements) & self.own, statements[0])
        return [ast.copy_location(ast.Return(value=call), statements[0])]

    def cut(self, statements, reads, place):
        """Note a piece; gives the expression that runs it."""
        first = list(self.code.positional[:1]) if "super" in loads(statements) else []
        reads = first + sorted(reads - set(first))
        last = statements[-1].end_lineno
        name = f"{self.code.node.name}"
        node = ast.FunctionDef(name=name, args=_arguments(reads), body=statements, decorator_list=[], returns=None,
                               type_comment=None, type_params=[], lineno=place.lineno, end_lineno=last, col_offset=0)
        self.cuts.append(Cut(name, ast.fix_missing_locations(node), reads))
        call = ast.Call(func=_holder("run"), args=[ast.Constant(value=len(self.cuts) - 1), _locals()], keywords=[])
        return ast.copy_location(call, place)

    # --- what Python runs --------------------------------------------------------------------------------------------

    def open(self, node):
        """A statement for Python, with pieces inside where it has blocks."""
        self.by_line = self.by_line or self.stops and _stops(node)
        if not isinstance(node, _BLOCKS):
            return [native(node)]
        made = copy.copy(node)
        for field, value in ast.iter_fields(node):
            if field in ("body", "orelse"):
                setattr(made, field, self.block(value))
            elif isinstance(value, ast.AST):
                setattr(made, field, native(value))
            elif isinstance(value, list):
                setattr(made, field, [native(v) if isinstance(v, ast.AST) else v for v in value])
        return [made]


def _holder(method):
    return ast.Attribute(value=ast.Name(id=HOLDER, ctx=ast.Load()), attr=method, ctx=ast.Load())


def _locals():
    """The names of the function that runs this, whatever its module calls ``locals``."""
    return ast.Call(func=_holder("locals"), args=[], keywords=[])


def _forget(names):
    """Statements that take away names that have no value."""
    made = []
    for name in names:
        test = ast.Compare(left=ast.Name(id=name, ctx=ast.Load()), ops=[ast.Is()], comparators=[_holder("missing")])
        made.append(ast.If(test=test, body=[ast.Delete(targets=[ast.Name(id=name, ctx=ast.Del())])], orelse=[]))
    return made


class _Native(ast.NodeTransformer):
    """A tree for Python in which functions of the user are captured on their own when they are called."""

    def visit_Call(self, node):
        node = self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _NEVER_WRAPPED:
            return node
        wrapped = ast.Call(func=_holder("wrap"), args=[node.func], keywords=[])
        node.func = ast.copy_location(wrapped, node.func)
        return node

    def visit_Leave(self, node):
        names = ast.Tuple(elts=[ast.Constant(value=n) for n in node.names], ctx=ast.Load())
        value = ast.Call(func=_holder("leave"), args=[names, _locals()], keywords=[])
        return ast.copy_location(ast.Return(value=value), node)

    def visit_FunctionDef(self, node):
        return node                  # a function of the program's own is captured, or not, when it is called

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef


def _clone(value):
    """A copy of a tree without what the capture noted on its nodes."""
    if isinstance(value, list):
        return [_clone(v) for v in value]
    if not isinstance(value, ast.AST):
        return value
    made = type(value)(**{field: _clone(held) for field, held in ast.iter_fields(value)})
    return ast.copy_location(made, value)


def native(node):
    """A copy of a tree as Python is to run it."""
    return _Native().visit(_clone(node))


def _as_python(node):
    """The tree of a piece as a function for Python."""
    made = copy.copy(node)
    forget = [ast.copy_location(s, node) for s in _forget(a.arg for a in node.args.args)]
    made.body = forget + [native(s) for s in node.body]
    return made
