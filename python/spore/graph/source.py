# SPDX-License-Identifier: Apache-2.0
"""The text of functions as syntax trees, and what can be said about a tree without running it.

Whole files are parsed once; a function is found in its file by the line of its code object, a lambda by line and column.
"""
import ast
import linecache
import types

__all__ = ["Code", "code_of", "assigned", "escapes", "falls_through", "free_names"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_files = {}              # file: (text, {line: [nodes]})
_codes = {}              # code object: Code


class Code:
    """A function as text: its tree, its parameters, and where it stands."""

    def __init__(self, node, file, lines, name):
        self.node, self.file, self.lines, self.name = node, file, lines, name
        self.is_lambda = isinstance(node, ast.Lambda)
        self.body = node.body if not self.is_lambda else None
        args = node.args
        self.positional = [a.arg for a in args.posonlyargs + args.args]
        self.n_positional_only = len(args.posonlyargs)
        self.star = args.vararg.arg if args.vararg else None
        self.keyword_only = [a.arg for a in args.kwonlyargs]
        self.star_star = args.kwarg.arg if args.kwarg else None
        self.simple = not (self.star or self.keyword_only or self.star_star or self.n_positional_only)

    def text(self, line):
        """The source line, without its indentation."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""


def _index(file, module_globals):
    lines = linecache.getlines(file, module_globals)
    text = "".join(lines)
    if not text:
        return None
    known = _files.get(file)
    if known is not None and known[0] == text:
        return known
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    _mangle(tree)
    places = {}
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            first = min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", ())])
            places.setdefault(first, []).append(node)
    _files[file] = known = (text, places, lines)
    return known


def _matches(node, code):
    if isinstance(node, ast.Lambda):
        if code.co_name != "<lambda>":
            return False
    elif code.co_name != node.name or isinstance(node, ast.AsyncFunctionDef):
        return False
    args = node.args
    names = [a.arg for a in args.posonlyargs + args.args + args.kwonlyargs]
    names += [a.arg for a in (args.vararg, args.kwarg) if a is not None]
    return tuple(names) == code.co_varnames[:len(names)]


def _same_columns(node, code):
    """Whether the code of a lambda stands where the tree says, for lines with several."""
    body = node.body
    spans = [p for p in code.co_positions() if p[0] == body.lineno and p[2] is not None]
    return bool(spans) and min(p[2] for p in spans) >= body.col_offset and (
        body.end_lineno != body.lineno or max(p[3] for p in spans if p[1] == body.lineno) <= body.end_col_offset)


def code_of(function):
    """The Code of a Python function, None when its source cannot be read."""
    code = function.__code__
    known = _codes.get(code)
    if known is not None:
        return known
    found = _index(code.co_filename, function.__globals__)
    if found is None:
        return None
    nodes = [n for n in found[1].get(code.co_firstlineno, ()) if _matches(n, code)]
    if len(nodes) > 1:
        nodes = [n for n in nodes if isinstance(n, ast.Lambda) and _same_columns(n, code)]
    if len(nodes) != 1:
        return None
    made = _codes[code] = Code(nodes[0], code.co_filename, found[2], code.co_name)
    return made


def register(code, made):
    """Make known what the text of a code object is, which stands in no file."""
    _codes[code] = made


def _mangle(tree):
    """Names that begin with two underscores as Python knows them inside a class."""
    stack = [(tree, "")]
    while stack:
        node, inside = stack.pop()
        if isinstance(node, ast.ClassDef):
            inside = "_" + node.name.lstrip("_") if node.name.strip("_") else ""
        elif inside:
            for field in ("id", "attr", "arg"):
                name = getattr(node, field, None)
                if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                    setattr(node, field, inside + name)
        stack.extend((child, inside) for child in ast.iter_child_nodes(node))


# --- what a tree says ------------------------------------------------------------------------------------------------

_SCOPES = _FUNCTIONS + (ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def walk_scope(statements):
    """All nodes of these statements, not those of functions inside."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))


def _base_name(node):
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _cached(name):
    """Remember the answer on the first statement of the list, which lives as long as the tree."""
    key = "_spore_" + name

    def decorate(function):
        def ask(statements):
            if not statements:
                return function(statements)
            first = statements[0]
            held = getattr(first, key, None)
            if held is None or held[0] != len(statements):
                held = (len(statements), function(statements))
                setattr(first, key, held)
            return held[1]
        return ask
    return decorate


@_cached("assigned")
def assigned(statements):
    """Names that these statements give a value, or change by x[i] = v or a method that ends in an underscore."""
    names = set()
    for node in walk_scope(statements):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            names.add(_base_name(node))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_")
              and isinstance(node.func.value, ast.Name)):
            names.add(node.func.value.id)
    names.discard(None)
    return names


@_cached("escapes")
def escapes(statements):
    """Whether control may leave these statements by return, break or continue."""
    stack = [(node, False) for node in statements]
    while stack:
        node, in_loop = stack.pop()
        if isinstance(node, ast.Return) or (isinstance(node, (ast.Break, ast.Continue)) and not in_loop):
            return True
        if isinstance(node, _SCOPES) or isinstance(node, ast.expr):
            continue
        inner = in_loop or isinstance(node, (ast.For, ast.While))
        stack.extend((child, inner) for child in ast.iter_child_nodes(node))
    return False


def without_else(loop):
    """A loop that no ``break`` leaves, without its ``else``, which is then just what follows; None if there is a ``break``."""
    stack = list(loop.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Break):
            return None
        if not isinstance(node, (ast.For, ast.While, *_SCOPES)) and not isinstance(node, ast.expr):
            stack.extend(ast.iter_child_nodes(node))
        elif isinstance(node, (ast.For, ast.While)):
            stack.extend(node.orelse)        # a break there leaves this loop
    if isinstance(loop, ast.While):
        return ast.copy_location(ast.While(loop.test, loop.body, []), loop)
    return ast.copy_location(ast.For(loop.target, loop.iter, loop.body, [], loop.type_comment), loop)


@_cached("falls")
def falls_through(statements):
    """Whether control may reach what follows these statements."""
    for node in statements:
        if isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return False
        if isinstance(node, ast.If) and node.orelse and not falls_through(node.body) and not falls_through(node.orelse):
            return False
        if isinstance(node, ast.With) and not falls_through(node.body):
            return False
    return True


def free_names(code):
    """Names a function reads that it does not set itself."""
    known = getattr(code.node, "_spore_free", None)
    if known is None:
        body = [code.node.body] if code.is_lambda else code.node.body
        own = set(code.positional) | set(code.keyword_only) | {code.star, code.star_star}
        read = {n.id for node in body for n in ast.walk(node) if isinstance(n, ast.Name)}
        for node in body:
            for inner in ast.walk(node):
                if isinstance(inner, _FUNCTIONS):
                    read |= {n.id for d in inner.args.defaults for n in ast.walk(d) if isinstance(n, ast.Name)}
        known = code.node._spore_free = read - own
    return known


def file_of(function):
    """Where a function was written; None for those of C."""
    code = None if hasattr(function, "__spore_inner__") else getattr(function, "__code__", None)
    return code.co_filename if isinstance(code, types.CodeType) else None
