"""The bodies of functions in place of calls of them, in one file.

What is taken is a short list: functions with one return at most, at the end; no methods, overloads,
templates, statics, lambdas, recursion, or names that may mean something else where the call is.
Names are new, and arguments are read once.
Not here: which calls are worth it (search/transform/transform.py, port/inline.py).
"""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.escapes import given_away
from regraph_kg.cpp.events import events_of
from regraph_kg.cpp.functions import CLASSES, Function, functions, parsed, scope_of
from regraph_kg.cpp.functions import parameter_type as type_of
from regraph_kg.cpp.library import COMPUTING
from regraph_kg.cpp.occurrences import Declared, Events
from regraph_kg.cpp.syntax import arguments, called, declared_name, inside_of, target, text, walk

_MOST, _LONGEST = 12, 4000  # calls of a file, characters of a body
_LOCAL = r"goto|struct|class|union|enum|using|typedef"
_ODD = re.compile(
    rf"\b({_LOCAL}|static(?! constexpr)|asm|throw|try|this|case|volatile|decltype|__func__|"
    r"\w*(lock|mutex|atomic)\w*)\b|[#\\]"
)
_COMMENT = re.compile(r"//[^\n]*|/\*(?s:.*?)\*/")
_QUALIFIER = re.compile(r"\b(const|constexpr|static|inline|std::)\s*")
_SCOPES = (*CLASSES, "lambda_expression", "template_declaration")
_BETWEEN = (  # from a call up to its statement: what is evaluated once
    *("parenthesized_expression", "binary_expression", "unary_expression", "argument_list"),
    *("call_expression", "cast_expression", "init_declarator", "assignment_expression"),
)
_HOLDERS = ("declaration", "expression_statement", "return_statement")
_BLOCKS = ("compound_statement", "else_clause", "if_statement")
_ENDS = ("return_statement", "lambda_expression")
_IN_ORDER = ("&&", "||", "<<", ">>")  # what is left of them comes first


class StaysError(Exception):
    """A call that stays, for its function's body might mean something else there."""


def with_bodies(code: str, wanted: Callable[[Function, Node], bool]) -> str:
    """The code with bodies in place of those calls that are `wanted`, as far as that is safe."""
    for _ in range(_MOST):
        source, edits = parsed(Path(), code.encode()), Edits()
        known, root = functions(source), source.tree.root_node
        events = events_of(root)
        for call in [node for node in walk(root) if node.type == "call_expression"]:
            meant = [function for function in known if function.name == called(call)]
            with suppress(StaysError):
                _demand(len(meant) == 1 and wanted(meant[0], call))
                _Inlined(events, meant[0], call).write(edits)
                break
        else:
            break
        code = edits.applied(source.original)
    return code


def _demand(holds: object) -> None:
    if not holds:
        raise StaysError


class _Inlined:
    """One call, and the function that it means."""

    def __init__(self, events: Events, function: Function, call: Node) -> None:
        self.events, self.function, self.call, self.body = events, function, call, function.body
        self.caller = inside_of(call, ("function_definition",))
        mine = [one for one in events.symbols if one.function == function.name]
        self.taken = {one.name: one for one in mine if one.parameter}
        self.own = {one.name: one for one in mine if not one.parameter}
        nodes = [node for node in walk(self.body) if node.type in ("identifier", "type_identifier")]
        self.uses = [it for it in nodes if it.parent and it.parent.type != "qualified_identifier"]
        self.kind = text(function.node.child_by_field_name("type"))
        self.calls = {called(one) for one in walk(self.body) if one.type == "call_expression"}

    def write(self, edits: Edits) -> None:
        """Put the body before the call's statement, and what it returns in the call's place."""
        self._check()
        statement, alone = self._statement()
        inner, own, lines = syntax.statements(self.body), Edits(), ""
        source, whole = self.function.source, text(self.function.source.tree.root_node)
        number = next(one for one in range(1, 1000) if not re.search(rf"_{one}\b", whole))
        names = {name: f"{name}_{number}" for name in self.own}
        for parameter, argument in zip(self.function.parameters, arguments(self.call), strict=True):
            name = declared_name(parameter)
            names[name] = text(argument)
            if not self._stands_for(self.taken[name], argument):
                names[name] = f"{name}_{number}"
                lines += f"{type_of(parameter)} {names[name]} = {text(argument)};\n"
        last, result = inner[-1] if inner else self.body, f"{self.function.name}_{number}"
        if last.type == "return_statement":
            value = last.named_children[0]
            local = self.own.get(text(value))
            begin = f"const {self.kind} {result} = "
            own.replacements.append((last.start_byte, value.start_byte, begin))
            if local is not None and _kind(local) == _QUALIFIER.sub("", self.kind):
                result = names[local.name]
                own.put(last, "")
        for node in self.uses:
            if text(node) in names:
                own.put(node, names[text(node)])
        lines += own.applied(source.content, inner[0].start_byte, last.end_byte) if inner else ""
        block = statement.parent is not None and statement.parent.type == "compound_statement"
        edits.insert(statement.start_byte, f"{'' if block else '{'}{lines}\n")
        edits.put(*((statement, "") if alone else (self.call, result)))
        edits.insert(statement.end_byte, "" if block else "\n}")
        hidden = text(self.function.outer).startswith(("static", "inline"))
        if hidden and len(re.findall(rf"\b{self.function.name}\b", whole)) == 2:  # noqa: PLR2004
            edits.put(self.function.outer, "")  # nobody calls it any more

    def _check(self) -> None:
        """Refuse functions and callers that are not of the list."""
        function, call, given = self.function, self.call, self.function.parameters
        written, inner = _COMMENT.sub("", text(self.body)), syntax.statements(self.body)
        _demand(len(written) < _LONGEST and not _ODD.search(written))
        _demand(function.node.end_byte < call.start_byte and not function.templates)
        _demand(function.declarator == function.node.child_by_field_name("declarator"))
        _demand("auto" not in self.kind.split() and function.name not in self.calls)
        _demand(inside_of(call, _SCOPES) is None and scope_of(call) == function.scope)
        _demand(function.method_of is None and self.caller is not None)
        _demand("::" not in text(self.caller).partition("(")[0])
        _demand(not re.search(rf"\b({_LOCAL})\b", text(self.caller)))
        _demand(not re.search(rb"~\w+\(", self.events.text))  # it would run later
        _demand(len(given) == len(arguments(call)) == len(self.taken))
        _demand(not any(re.search(r"[\[(]|&&", type_of(it)) for it in given))
        ends = [it for it in walk(self.body) if it.type in _ENDS]
        _demand(ends == [it for it in inner[-1:] if it in ends and it.named_children])
        used, caller = {*map(text, self.uses)}, declared_name(self.caller)
        used -= {*self.own, *self.taken}
        known = {one.name for one in self.events.symbols if one.function == caller}
        _demand(not (used | {function.name}) & known and not {*self.own} & {*self.taken})

    def _statement(self) -> tuple[Node, bool]:
        """The statement before which the body may run, and whether it is the call alone."""
        node = self.call
        while node.parent is not None and node.parent.type in _BETWEEN:
            above = node.parent
            late = above.type == "binary_expression" and syntax.operator(above) in _IN_ORDER
            _demand(not late or above.children[0] == node)
            _demand(above.type != "assignment_expression" or above.children[-1] == node)
            node = above
        holder = node.parent
        if holder is None or holder.type not in _HOLDERS or holder.parent is None:
            raise StaysError
        around, last = holder.parent, holder.prev_sibling
        _demand(around.type in _BLOCKS or holder == around.child_by_field_name("body"))
        _demand(last is None or last.type != "preproc_call")  # a directive
        _demand(not re.match(r"(static|thread_local|constexpr)\b", text(holder)))
        _demand(len(holder.children_by_field_name("declarator")) <= 1)
        _demand(not any(target(one) is not None and one != node for one in walk(node)))
        # another function may read what the body writes, or write what it reads
        value = node.child_by_field_name("right") or node.child_by_field_name("value") or node
        targets = filter(None, map(target, walk(self.body)))
        quiet = {text(syntax.root_name(to)) for to in targets} <= {*self.own}
        others = {called(one) for one in walk(node) if one.type == "call_expression"}
        mild = others | self.calls <= COMPUTING | {called(self.call)}
        _demand(value == self.call or (quiet and mild))
        alone = node == self.call and holder.type == "expression_statement"
        _demand(alone == (self.kind == "void"))
        return holder, alone

    def _stands_for(self, parameter: Declared, argument: Node) -> bool:
        """Whether an argument's name may stand for a parameter: it has one value all the time."""
        given = self.events.find(text(argument), argument)
        plain = argument.type == "identifier" and given is not None and not given.array
        if given is None or not plain or not given.function or _kind(parameter) != _kind(given):
            return False
        alone = all("const" in it.kind or not it.reference for it in self.taken.values())
        alone = alone and not re.search(rf"&\s*{given.name}\b", text(self.caller))
        value = alone and "<" not in parameter.kind and not given.reference
        uses = {use.id for use in self.uses if text(use) == parameter.name}
        return parameter.reference or (value and not uses & given_away(self.body, self.events))


def _kind(declared: Declared) -> str:
    """The type of what is declared, without qualifiers and references."""
    return _QUALIFIER.sub("", declared.kind).strip() + "*" * declared.pointer
