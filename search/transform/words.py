"""The words of conditions and templates: texts of code in, texts of code out."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.library import COMPUTING
from regraph_kg.cpp.syntax import arguments, called, declared_name, root_name, text, tree_of, walk
from regraph_kg.search.transform.pattern import Pattern, filled

_NAME = re.compile(r"\b[A-Za-z_]\w*")
_ATOM = re.compile(r"\w+(?:\.\w+|\[[^][]*\])*|\([^()]*\)")
_ENCLOSED = ("argument_list", "subscript_argument_list", "init_declarator")
_UNSURE = {
    "if_statement": ("consequence", "alternative"),
    "conditional_expression": ("consequence", "alternative"),
    "binary_expression": ("right",),
    "for_statement": ("update", "body"),
    "while_statement": ("body",),
    "switch_statement": ("body",),
    "for_range_loop": ("body",),
}
_HEADS = {
    "init_declarator": ("value",),
    "assignment_expression": ("left", "right"),
    "if_statement": ("condition",),
    "for_statement": ("initializer", "condition", "update"),
    "while_statement": ("condition",),
}
_LEAVES = ("return_statement", "break_statement", "continue_statement", "goto_statement")
_CHANGES = ("assignment_expression", "update_expression")


class NoFitError(Exception):
    """A place where a step cannot be carried out."""


class LeftError(NoFitError):
    """A place within a metavariable that stays as it is."""


def plus(left: object, right: object) -> str:
    """The sum of two expressions, without zeros; `enclosed` makes it an operand."""
    left, right = str(left), str(right)
    if left == "0" or right == "0":
        return right if left == "0" else left
    return f"{left} + {enclosed(right)}"


def times(left: object, right: object) -> str:
    """The product of two expressions, without ones and zeros."""
    left, right = str(left), str(right)
    if left == "0" or right == "0":
        return "0"
    if left == "1" or right == "1":
        return right if left == "1" else left
    return f"{enclosed(left)} * {enclosed(right)}"


def no_fit(why: str) -> str:
    """Give a place up."""
    raise NoFitError(why)


def leave(why: str) -> str:
    """Leave this place of a rule for the inside as it is."""
    raise LeftError(why)


def enclosed(expression: str) -> str:
    """An expression as an operand: in parentheses unless it is one word."""
    return expression if _ATOM.fullmatch(expression) else f"({expression})"


def substituted(code: str, values: Mapping[str, object]) -> str:
    """The code with other expressions for variables; no fit where it declares such a name anew."""
    if {*values} & {*declared(code)}:
        raise NoFitError("a name is declared anew")
    return _renamed(code, {name: str(value) for name, value in values.items()})


def copy(
    code: str,
    number: object,
    local: Iterable[str] = (),
    values: Mapping[str, object] | None = None,
) -> str:
    """One of several copies of a code: its own variables, and those of `local`, get a number."""
    own = {name: f"{name}_{number}" for name in [*declared(code), *local]}
    # the first copy keeps its names
    fresh = {} if str(number) == "0" else own
    return _renamed(code, {name: str(value) for name, value in (values or {}).items()} | fresh)


def _renamed(code: str, values: Mapping[str, str]) -> str:
    edits = Edits()
    for node in walk(root_of(code)):
        if node.type == "preproc_arg":
            edits.put(node, _NAME.sub(lambda found: values.get(found[0], found[0]), text(node)))
        elif node.type == "identifier" and text(node) in values:
            value = values[text(node)]
            parent = node.parent.type if node.parent is not None else ""
            edits.put(node, value if parent in _ENCLOSED else enclosed(value))
    return edited(code, edits)


def indexed(code: str, names: Iterable[str], index: str, suffix: str = "") -> str:
    """The code with a suffix and a last index for some variables: `sum` is `sum_all[lane]` then."""
    edits, of = Edits(), {*names}
    if of & {*declared(code)}:
        raise NoFitError("a name is declared anew")
    for node in walk(root_of(code)):
        if node.type == "identifier" and text(node) in of:
            last, outer = node, node.parent
            while outer is not None and outer.type == "subscript_expression":
                if outer.child_by_field_name("argument") != last:
                    break
                last, outer = outer, outer.parent
            edits.insert(node.end_byte, suffix)
            edits.insert(last.end_byte, f"[{index}]")
    return edited(code, edits)


def uses(code: str, of: Iterable[str]) -> bool:
    """Whether a code uses one of some names."""
    return bool({*names(code)} & {*of})


def has(text: str, part: str) -> bool:
    """Whether a text, such as a type, has a part."""
    return str(part) in str(text)


def declared(code: str, after: bool = False) -> list[str]:
    """The variables that a code declares; `after`: those that are known after it, too."""
    nodes: Iterable[Node] = walk(root_of(code))
    if after:
        nodes = [node for node in root_of(code).named_children if node.type == "declaration"]
    return list(dict.fromkeys(_declared(nodes)))


def _declared(nodes: Iterable[Node]) -> list[str]:
    found = list[str]()
    for node in nodes:
        if node.type == "declaration":
            found += [declared_name(inner) for inner in node.children_by_field_name("declarator")]
        elif node.type == "for_range_loop":
            found.append(declared_name(node.child_by_field_name("declarator")))
        elif node.type in ("structured_binding_declarator", "lambda_expression"):
            raise NoFitError("it declares names in a way that is not followed")
    return [name for name in found if name]


class Variable(NamedTuple):
    """A variable that a code declares."""

    type: str
    name: str
    value: str  # "" without one
    length: str  # of an array


def variables(code: str) -> list[Variable]:
    """The variables of a code that does nothing but declare them; else no fit."""
    found = []
    for node in root_of(code).named_children:
        if node.type == "comment":
            continue
        if node.type != "declaration":
            raise NoFitError("it does more than declare variables")
        first = node.children_by_field_name("declarator")[0]
        kind = before(node, first).strip()
        for one in node.children_by_field_name("declarator"):
            value, inner, length = one.child_by_field_name("value"), one, ""
            if one.type == "init_declarator":
                inner = one.child_by_field_name("declarator") or one
            if inner.type == "array_declarator":
                length = text(inner.child_by_field_name("size"))
                inner = inner.child_by_field_name("declarator") or inner
            name = declared_name(inner)
            if not name or text(inner).lstrip("* ") != name or "{" in text(value) or "&" in kind:
                raise NoFitError("it declares more than numbers and pointers")
            found.append(Variable(kind + "*" * text(inner).count("*"), name, text(value), length))
    return found


def before(node: Node, inner: Node) -> str:
    """The text of a node before one within it."""
    return (node.text or b"")[: inner.start_byte - node.start_byte].decode(errors="replace")


def separated(code: str) -> str:
    """The code with a declaration of its own for each variable."""
    edits = Edits()
    for node in walk(root_of(code)):
        if node.type == "declaration" and len(node.children_by_field_name("declarator")) > 1:
            found = variables(text(node))
            edits.put(node, " ".join(f"{v.type} {v.name} = {v.value};" for v in found if v.value))
            if not all(v.value and not v.length for v in found):
                raise NoFitError("it declares variables without values")
    return edited(code, edits)


def changed(code: str) -> list[str]:
    """The variables, arrays and pointers that a code writes to."""
    return list(dict.fromkeys(_changed(walk(root_of(code)))))


def _changed(nodes: Iterable[Node]) -> list[str]:
    targets = filter(None, map(target, nodes))
    return [text(root_name(to) or to) for to in targets]


def target(node: Node) -> Node | None:
    """What an assignment, or a step by one, changes."""
    if node.type not in _CHANGES:
        return None
    return node.child_by_field_name("left") or node.child_by_field_name("argument")


def moved(code: str) -> list[str]:
    """The variables that a code changes themselves, not elements of them."""
    targets = filter(None, map(target, walk(root_of(code))))
    return [text(to) for to in targets if to.type == "identifier"]


def slipped(code: str) -> list[str]:
    """The variables and arrays that a code changes within another expression."""
    found = list[str]()
    for node in walk(root_of(code)):
        around = node.parent.type if node.parent is not None else ""
        alone = around in ("expression_statement", "for_statement", "comma_expression")
        if node.type in _CHANGES and not alone and around != node.type:  # a = b = 0
            found += _changed(walk(node))
    return found


def names(code: str) -> list[str]:
    """The names that a code uses."""
    found = (text(node) for node in walk(root_of(code)) if node.type == "identifier")
    return list(dict.fromkeys(name for name in found if name != "_"))  # that of the wrapper


def always(code: str) -> str:
    """The code without what runs under a condition, in an inner loop or not at all."""
    edits = Edits()
    for node in walk(root_of(code)):
        unsure = _UNSURE.get(node.type, ())
        if node.type != "binary_expression" or text(node.children[1]) in ("&&", "||"):
            for part in filter(None, map(node.child_by_field_name, unsure)):
                edits.put(part, ";" if part.type.endswith(("statement", "clause")) else "0")
    return edited(code, edits)


def varying(code: str, seeds: Iterable[str]) -> list[str]:
    """The own variables of a code whose values depend on those of `seeds`, and these."""
    own, found, flows = {*declared(code)}, {*seeds}, list(_flows(root_of(code)))
    more = found
    while more:
        more = {name for used, to in flows if used & found for name in to} & own - found
        found |= more
    shared = re.findall(r"__shared__[^;]*;", code)
    return sorted(found - {name for one in shared for name in declared(one)})


def _flows(root: Node) -> Iterator[tuple[set[str], list[str]]]:
    """The names used by values and conditions, and the variables that depend on each."""
    for node in walk(root):
        if node.type == "init_declarator":
            yield head_names(node), [declared_name(node)]
        elif node.type == "assignment_expression":
            yield head_names(node), _changed([node])
        elif node.type in _HEADS:
            yield head_names(node), _changed(walk(node)) + _declared(walk(node))


def head_names(node: Node) -> set[str]:
    """What stands in the condition or the value of a statement."""
    return _texts(map(node.child_by_field_name, _HEADS.get(node.type, ())))


def _texts(nodes: Iterable[Node | None]) -> set[str]:
    return {text(inner) for node in nodes if node is not None for inner in walk(node)}


def jammed(code: str, count: int, varies: Iterable[str], name: str, value: str) -> str:
    """The code for several threads' parts at once: what varies is there once for each part.

    Loops and statements in which nothing of `varies` stands are there once. A part has `value` for
    the name, with its number for `$part`, and numbers behind its variables.
    """
    names_ = {*varies}

    def jam(node: Node) -> str:
        if not names_ & _texts([node]):
            return text(node)
        inner = node.child_by_field_name("body")
        if node.type == "compound_statement":
            return "\n".join(["{", *map(jam, node.named_children), "}"])
        if node.type == "for_statement" and inner is not None and not head_names(node) & names_:
            begins = before(node, inner)
            parts = inner.named_children if inner.type == "compound_statement" else [inner]
            return "\n".join([begins + "{", *map(jam, parts), "}"])
        if any(one.type in _LEAVES for one in walk(node)):
            raise NoFitError("a part would leave for all parts")
        numbers = [f"{name}{part}" if part else "0" for part in range(count)]
        values = [{name: value.replace("$part", str(part))} for part in range(count)]
        local = names_ - {name}
        return "\n".join(map(copy, repeat(text(node)), numbers, repeat(local), values))

    return "\n".join(map(jam, root_of(code).named_children))


def calls(code: str) -> list[str]:
    """The functions that a code calls."""
    found = (called(node) for node in walk(root_of(code)) if node.type == "call_expression")
    return list(dict.fromkeys(found))


def pure(code: str) -> bool:
    """Whether an expression changes nothing: no assignment, and only calls of mathematics."""
    changing = any(node.type in _CHANGES for node in walk(root_of(code)))
    return not changing and {*calls(code)} <= COMPUTING


def count(code: str, pattern: str, **values: object) -> int:
    """How often a pattern stands in a code; `$x` of `values` must hold that text."""
    return len(matches(code, pattern, **values))


def matches(code: str, pattern: str, **values: object) -> list[dict[str, str]]:
    """What the metavariables hold at each place of a pattern in a code, as `count` counts them."""
    places = Pattern.of(filled(pattern, values)).places(root_of(code))
    return [{name: part.text for name, part in bound.items()} for _, bound in places]


def called_with(code: str, parameters: str, given: str) -> str:
    """An expression of a function as its caller writes it, of whose call the arguments are known.

    No fit where it has other names than parameters, or an argument has side effects.
    """
    heads = walk(tree_of(f"void _({parameters}) {{}}").root)
    own = [declared_name(node) for node in heads if node.type == "parameter_declaration"]
    call = next(node for node in walk(root_of(f"_({given});")) if node.type == "call_expression")
    values = dict(zip(own, map(text, arguments(call)), strict=True))
    used = {name: values[name] for name in names(code)}
    if not all(map(pure, used.values())):
        raise NoFitError("the caller has no such value")
    return _renamed(code, used)


def doubles(code: str) -> list[str]:
    """The numbers of double precision that a code names."""
    found = [text(node) for node in walk(root_of(code)) if node.type == "number_literal"]
    return [number for number in found if "." in number and "f" not in number]


def pointed(code: str) -> list[str]:
    """The arrays of which a code uses elements."""
    kinds = ("subscript_expression", "pointer_expression")
    found = (root_name(node) for node in walk(root_of(code)) if node.type in kinds)
    return list(dict.fromkeys(text(name) for name in found if name is not None))


def edited(code: str, edits: Edits) -> str:
    """The code with edits to `_wrapped(code)`, without what is around it."""
    head, whole, tail = _wrapped(code)
    return edits.applied(whole.encode(), len(head.encode()), len(whole.encode()) - len(tail))


def _wrapped(code: str) -> tuple[str, str, str]:
    """The code as the body of a function, with what stands in front and behind."""
    if code.rstrip().endswith((";", "}")) or not code.strip():
        return "void _() {\n", f"void _() {{\n{code}\n}}", "\n}"
    # parentheses, since `a * b[i];` declares a pointer
    return "void _() {\n(", f"void _() {{\n({code});\n}}", ");\n}"


@lru_cache(maxsize=256)
def root_of(code: str) -> Node:
    """The code's syntax, as the body of a function."""
    root = tree_of(_wrapped(code)[1]).root
    functions = [node.child_by_field_name("body") for node in root.named_children]
    return next((body for body in functions if body is not None), root)
