# SPDX-License-Identifier: Apache-2.0
"""SymbolTree: the nodes of a network, and the network that their code makes."""
import ast
import inspect
import itertools
import linecache
import sys
import textwrap

from spore._core import type_name as _type_name
from spore.nn.cell import Cell
from spore.nn.layer.container import SequentialCell
from spore.rewrite.common.namespace import is_subtree
from spore.rewrite.flatten import Flattener
from spore.rewrite.node import Node, NodeType

__all__ = ['SymbolTree']

_files = itertools.count(1)


class SymbolTree:
    """The code of a network's construct as nodes. Made by :meth:`create`; nodes are found by :meth:`nodes` and :meth:`get_node`,
    changed by :meth:`insert`, :meth:`erase` and :meth:`replace`; :meth:`get_network` answers the changed network, which shares
    its parameters with the one that was given. That one is not changed.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> from spore.rewrite import Node, SymbolTree
        >>> tree = SymbolTree.create(nn.SequentialCell(nn.Dense(2, 2), nn.ReLU()))
        >>> [node.get_name() for node in tree.nodes()]
        ['input_input_data', 'for_node', 'return']
    """

    def __init__(self, network):
        self._network = network
        self._node_names, self._variables, self._added, self._file = {}, set(), {}, None
        if isinstance(network, SequentialCell) and type(network).construct is SequentialCell.construct:
            self._names = vars(sys.modules[SequentialCell.__module__])
        else:
            self._names = vars(sys.modules[type(network).__module__])
        try:
            source = textwrap.dedent(inspect.getsource(type(network).construct))
        except (OSError, TypeError) as error:
            raise ValueError(f"SymbolTree.create: the source of {_type_name(network)}.construct cannot be read: {error}") from error
        self._definition = ast.parse(source).body[0]
        self._variables |= {each.id for each in ast.walk(self._definition) if isinstance(each, ast.Name)}
        self._body = Flattener(self, network, self._names).function(self._definition)
        self._containers = [node for node in self._walk() if node._kind == NodeType.CellContainer]

    @classmethod
    def create(cls, network):
        """The tree of a network.

        Examples:
            >>> from spore import nn
            >>> from spore.rewrite import SymbolTree
            >>> type(SymbolTree.create(nn.Dense(2, 2))).__name__
            'SymbolTree'
        """
        if not isinstance(network, Cell):
            raise TypeError(f"For 'SymbolTree.create', 'network' must be a Cell, but got {_type_name(network)}.")
        return cls(network)

    # --- looking ---

    def _walk(self, body=None):
        """Nodes of this tree with those inside branches and loops, in order."""
        for node in list(self._body if body is None else body):
            yield node
            for _, inner in node._bodies:
                yield from self._walk(inner)

    def nodes(self, all_nodes=False):
        """The nodes, one after another.

        Args:
            all_nodes (bool): Also those inside branches, loops, containers and Cells of the user's own. Default: ``False``.
        """
        if not isinstance(all_nodes, bool):
            raise TypeError(f"For 'SymbolTree.nodes', 'all_nodes' must be a bool, but got {_type_name(all_nodes)}.")
        if not all_nodes:
            yield from list(self._body)
            return
        for node in self._walk():
            yield node
            yield from node._children
            if node._tree is not None:
                yield from node._tree.nodes(True)

    def all_nodes(self, subtree_nodes=True):
        """All nodes, see :meth:`nodes`."""
        yield from self.nodes(True) if subtree_nodes else self._walk()

    def get_node(self, node_name):
        """The node of a name, or None."""
        if not isinstance(node_name, str):
            raise TypeError(f"For 'SymbolTree.get_node', 'node_name' must be a str, but got {_type_name(node_name)}.")
        return next((node for node in self._every() if node._name == node_name), None)

    def _every(self):
        for node in self._walk():
            yield node
            yield from node._children

    def get_inputs(self):
        """The nodes of the network's inputs."""
        return [node for node in self._body if node._kind == NodeType.Input]

    def get_handler(self):
        """The tree itself."""
        return self

    def get_origin_network(self):
        """The network that was given."""
        return self._network

    def print_node_tabulate(self, all_nodes=False):
        """Print a table of the nodes."""
        rows = [("node type", "name", "codes", "arg providers", "arg users")]
        for node in self.nodes(all_nodes):
            text = "; ".join(node.lines("")[:1])
            rows.append((str(node._kind), node._name, text, str([each._name for each in node.get_inputs()]),
                         str([each._name for each in node.get_users()])))
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        print(f"{'=' * 20} {type(self._network).__name__} {'=' * 20}")
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())

    dump = print_node_tabulate

    # --- changing ---

    def _unique_node(self, name):
        count = self._node_names.get(name, 0)
        self._node_names[name] = count + 1
        return self._unique_node(f"{name}_{count}") if count else name

    def unique_name(self, name="output"):
        """A name that no variable of the code has yet."""
        found, count = name, 0
        while found in self._variables or hasattr(self._network, found):
            count += 1
            found = f"{name}_{count}"
        self._variables.add(found)
        return found

    def _find(self, node, what):
        found = self.get_node(node) if isinstance(node, str) else node
        if not isinstance(found, Node):
            raise TypeError(f"For 'SymbolTree.{what}', a Node or the name of one is wanted, but got {node!r}.")
        if found._body is None or not any(other is found for other in found._body):
            raise ValueError(f"For 'SymbolTree.{what}', node '{found._name}' stands in no tree.")
        return found

    def before(self, node):
        """The place in front of a node, for :meth:`insert`."""
        return self._find(node, "before"), 0

    def after(self, node):
        """The place behind a node, for :meth:`insert`."""
        return self._find(node, "after"), 1

    def insert(self, position, node):
        """Put a new node at a place; answers the node."""
        if not isinstance(node, Node):
            raise TypeError(f"For 'SymbolTree.insert', 'node' must be a Node, but got {type(node).__name__}.")
        if node._body is not None:
            raise ValueError(f"For 'SymbolTree.insert', node '{node._name}' stands in a tree already.")
        if not isinstance(position, tuple) or len(position) != 2:
            raise TypeError(f"For 'SymbolTree.insert', 'position' must come of before() or after(), but got {position!r}.")
        beside, offset = position
        at = next(i for i, other in enumerate(beside._body) if other is beside) + offset
        node._owner, node._body = beside._owner, beside._body
        if beside._owner is not self:
            return beside._owner._place(node, at)
        return self._place(node, at)

    def _place(self, node, at):
        inside = self._container_body(node._body)
        if node._kind == NodeType.Input:
            node._name = self._unique_node(node._name)
        elif not inside and node._callee is None:
            name = node._name
            if node._kind == NodeType.CallFunction:
                while self._names.get(name, self._added.get(name, node._instance)) is not node._instance:
                    name += "_1"
                node._callee = name
            else:
                while hasattr(self._network, name) or name in self._added:
                    name = self._unique_node(name)
                node._callee = "self." + name
            node._name = self._unique_node(name)
            self._added[name] = node._instance
        else:
            node._name = self._unique_node(node._name)
        if node._kind == NodeType.CellContainer or isinstance(node._instance, SequentialCell):
            node._kind = NodeType.CellContainer
            self._fill_container(node)
            self._containers.append(node)
        self._variables |= {target.value for target in node._targets}
        node._body.insert(at, node)
        return node

    def erase(self, node):
        """Take a node away; answers it. Who took its results takes what has their names now."""
        found = self._find(node, "erase")
        found._body[:] = [other for other in found._body if other is not found]
        found._body = None
        return found

    def replace(self, old_node, new_nodes):
        """Put new nodes, in the order they run, in the place of one; answers the last. The results of the old node are taken from
        the last new one, whatever their names are there."""
        found = self._find(old_node, "replace")
        if not isinstance(new_nodes, list) or not new_nodes:
            raise TypeError(f"For 'SymbolTree.replace', 'new_nodes' must be a list of Nodes, but got {new_nodes!r}.")
        users, last = found.get_users(), new_nodes[-1]
        for node in new_nodes:
            self.insert(self.before(found), node)
        self.erase(found)
        renamed = {old.code: new for old, new in zip(found._targets, last._targets) if old.code != new.code}
        for user in users if renamed else ():
            user._args = [renamed.get(arg.code, arg) for arg in user._args]
            user._kwargs = {key: renamed.get(arg.code, arg) for key, arg in user._kwargs.items()}
        return last

    def flatten_static_if_control_flow(self):
        """Put the branch that is taken in the place of every `if` whose condition the network's attributes decide."""
        changed = True
        while changed:
            changed = False
            for node in list(self._walk()):
                if node._kind == NodeType.ControlFlow and node._bodies[0][0] == "if {}":
                    taken = self._decided(node)
                    if taken is not None:
                        self._unfold(node, taken)
                        changed = True
                        break

    def _decided(self, node):
        """Whether a condition holds, or None if that is known at run time only."""
        text, source = node._args[0].code, node._source(node._args[0].code)
        if source is not None and source._kind == NodeType.MathOps:
            text = source._form.format(*(arg.code for arg in source._args))
        names = {each.id for each in ast.walk(ast.parse(text, mode="eval")) if isinstance(each, ast.Name)}
        if names - {"self"}:
            return None
        try:
            return bool(eval(text, {}, {"self": self._network}))
        except Exception:  # an attribute that is set while the network runs
            return None

    @staticmethod
    def _unfold(node, taken):
        inner = node._bodies[0][1] if taken else node._bodies[1][1] if len(node._bodies) > 1 else []
        at = next(i for i, other in enumerate(node._body) if other is node)
        for each in inner:
            each._body = node._body
        node._body[at:at + 1] = inner
        node._body = None

    # --- containers ---

    def _fill_container(self, node):
        """A node for each cell of a SequentialCell."""
        for cell in node._instance:
            child = Node(NodeType.CellContainer if isinstance(cell, SequentialCell) else
                         NodeType.Tree if is_subtree(cell) else NodeType.CallCell, self._unique_node(type(cell).__name__), instance=cell)
            child._body, child._owner = node._children, self
            if child._kind == NodeType.Tree:
                child._tree = SymbolTree(cell)
            node._children.append(child)

    def _container_body(self, body):
        return next((each for each in self._containers if each._children is body), None)

    def _container_of(self, node):
        return self._container_body(node._body)

    # --- code ---

    def _signature(self):
        """The parameters of construct, with those that were inserted."""
        args = self._definition.args
        known = {arg.arg for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]}
        more = [node for node in self.get_inputs() if node._targets[0].value not in known]
        text = ast.unparse(args)
        for node in more:
            text += f", {node._targets[0].value}" + (f"={node._args[0].code}" if node._args else "")
        return text

    def _trees(self, used):
        """(tree, name of its class) of this and all trees it calls, those first."""
        for node in self._every():
            if node._tree is not None:
                yield from node._tree._trees(used)
        base = name = type(self._network).__name__ + "Opt"
        count = 0
        while name in used:
            count += 1
            name = f"{base}_{count}"
        used.add(name)
        self._class_name = name
        yield self, name

    def _class_code(self, name):
        base = type(self._network).__name__
        lines = [f"class {name}({base}, nn.Cell):", "", "    def __init__(self, obj):", "        nn.Cell.__init__(self)",
                 "        for key, value in obj.__dict__.items():",
                 "            setattr(self, key, value.copy() if isinstance(value, dict) else value)"]
        for node in self._walk():
            if node._tree is not None and node._callee.startswith("self.") and node._callee not in self._added:
                lines.append(f"        {node._callee} = {node._tree._class_name}({node._callee})")
        lines += ["", f"    def construct({self._signature()}):"]
        return "\n".join(lines + [line for node in self._body for line in node.lines(" " * 8)])

    def _import_lines(self):
        """The imports of the modules that the classes come from, and the classes."""
        found, seen = ["from mindspore import nn"], set()
        for tree, _ in self._trees(set()):
            module = sys.modules[type(tree._network).__module__]
            if module.__name__ not in seen:
                seen.add(module.__name__)
                try:
                    body = ast.parse(inspect.getsource(module)).body
                except (OSError, TypeError):
                    body = []
                found += [ast.unparse(each) for each in body if isinstance(each, (ast.Import, ast.ImportFrom))
                          and getattr(each, "module", "") != "__future__"]
            for name in [type(tree._network).__name__] + [callee for callee, value in tree._added.items() if not isinstance(value, Cell)]:
                place = getattr(tree._added.get(name), "__module__", None) or module.__name__
                found.append(f"from {place} import {name}")
        return list(dict.fromkeys(found))

    def get_code(self):
        """The code of the network as it is now, imports included."""
        return "\n".join(self._import_lines()) + "\n\n\n" + self._classes()

    def _classes(self):
        return "\n\n\n".join(tree._class_code(name) for tree, name in list(self._trees(set()))) + "\n"

    def get_network(self):
        """The network as its code is now. It shares Cells and Parameters with the one that was given."""
        from spore import nn
        code, file = self._classes(), f"<network {next(_files)} of rewrite>"
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)  # for tracebacks, and for graph mode
        names = {"__name__": type(self._network).__module__, "nn": nn}
        for tree, _ in self._trees(set()):
            names.update({key: value for key, value in tree._names.items() if key not in ("__name__", "__builtins__")})
            names[type(tree._network).__name__] = type(tree._network)
            names.update({key: value for key, value in tree._added.items() if not isinstance(value, Cell)})
        names["nn"] = nn
        exec(compile(code, file, "exec"), names)
        for tree, name in self._trees(set()):
            names[name].__module__ = type(tree._network).__module__
        return self._build(names)

    def _build(self, names):
        made = names[self._class_name](self._network)
        for name, value in self._added.items():
            if isinstance(value, Cell) or any(node._callee == "self." + name for node in self._walk()):
                setattr(made, name, value)
        for node in self._walk():
            if node._tree is not None:
                setattr(made, node._callee[5:], node._tree._build(names))
            elif node._kind == NodeType.CellContainer and self._changed(node) and node._callee.startswith("self."):
                setattr(made, node._callee[5:], self._contents(node, names))
        return made

    def _changed(self, node):
        cells = list(node._instance)
        return len(cells) != len(node._children) or any(
            child._instance is not cell or child._tree is not None or child._children for child, cell in zip(node._children, cells))

    def _contents(self, node, names):
        return SequentialCell(*(child._tree._build(names) if child._tree is not None else child._instance for child in node._children))

    def set_saved_file_name(self, file_name):
        """Where :meth:`save_network_to_file` writes."""
        self._file = file_name if file_name.endswith(".py") else file_name + ".py"

    def get_saved_file_name(self):
        """Where :meth:`save_network_to_file` writes."""
        return self._file

    def save_network_to_file(self):
        """Write the code to the file of :meth:`set_saved_file_name`."""
        if self._file is None:
            raise ValueError("SymbolTree.save_network_to_file: set_saved_file_name was not called")
        with open(self._file, "w", encoding="utf-8") as file:
            file.write(self.get_code())
