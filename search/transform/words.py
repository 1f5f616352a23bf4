"""The words of conditions and templates: texts of code in, texts of code out.

Templates are Jinja in a sandbox that lends nothing but these; a stranger's graph may hold them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from jinja2 import StrictUndefined, Template, nodes
from jinja2.environment import TemplateExpression
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer
from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.library import FAST_MATH, HARMLESS, MATH
from regraph_kg.cpp.syntax import arguments, called, declared_name, root_name, text, tree_of, walk
from regraph_kg.search.transform.pattern import Pattern, PatternError

LONGEST = 200_000  # characters of a text that a template makes
MOST_WORK = 5_000  # of one place: rounds of loops, and 200 characters given to a word count one
_WORK = 200
_MOST_PARTS = 16
_LARGE = 1 << 31  # numbers beyond it are not multiplied
COMPUTING = MATH | FAST_MATH | HARMLESS  # functions that change nothing
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_ATOM = re.compile(r"\w+(?:\.\w+|\[[^][]*\])*|\([^()]*\)")
_VARIABLE = re.compile(r"\$\$\$?([A-Za-z_]\w*);?|\$([A-Za-z_]\w*)")
_BLOCK = r"""\{#.*?#\}|\{[{%](?:"[^"]*"|'[^']*'|[^"'])*?[}%]\}"""
_VARIABLE_OR_BLOCK = re.compile(f"{_VARIABLE.pattern}|{_BLOCK}", re.DOTALL)
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


class Words(ImmutableSandboxedEnvironment):
    """Jinja that may read attributes and use the words of this file, and nothing else.

    A template of a stranger's graph ends, and its texts stay short: each word and each round of a
    loop is work, of which a place has `MOST_WORK`.
    """

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self) -> None:
        """Without a loader: no template includes or imports another."""
        super().__init__(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        own = (copy, declared, changed, names, calls, count, pure, pointed, substituted, enclosed)
        words: dict[str, Callable[..., Any]] = {word.__name__: word for word in own}
        more = (variables, indexed, called_with, known_after, parts, matches, suffixed, always)
        words |= {
            word.__name__: word
            for word in (*more, varying, jammed, slipped, literals, separated, join, replace)
        }
        words |= {"format": lambda text, number: replace(text, "%d", str(number)), "small": small}
        words |= {"rewritten": self.rewritten, "bounded": str, "split": str.split}
        jinja = ("list", "length", "first", "last", "select", "reject", "selectattr", "rejectattr")
        kept = {name: self.filters[name] for name in (*jinja, "map", "unique", "int")}
        self.filters = kept | {name: self._bounded(word) for name, word in words.items()}
        self.globals = {"no_fit": no_fit, "leave": leave, "each": self.each, "range": self.range}
        self.globals |= {"plus": self._bounded(plus), "times": self._bounded(times)}
        self.tests |= {"uses": self._bounded(uses), "has": self._bounded(has)}
        self.left = MOST_WORK

    def spend(self, work: int) -> None:
        """Count work; no fit where a template does too much."""
        self.left -= work
        if self.left < 0:
            raise NoFitError("its template does too much")

    def _bounded(self, word: Callable[..., Any]) -> Callable[..., Any]:
        """A word whose use counts, and whose text is not too long."""

        def use(*given: object, **named: object) -> object:
            texts = [len(one) for one in (*given, *named.values()) if isinstance(one, str)]
            self.spend(1 + sum(texts) // _WORK)
            return self._short(word(*given, **named))

        return use

    def _short(self, made: object) -> object:
        if isinstance(made, str) and len(made) > LONGEST:
            raise NoFitError("its template writes too much")
        return made

    def each(self, items: Iterable[object]) -> Iterator[object]:
        """What a loop goes through, round by round."""
        if isinstance(items, str):
            raise NoFitError("a loop goes through a list, not through a text")
        for item in items:
            self.spend(1)
            yield item

    def range(self, *bounds: int) -> range:
        """Numbers of a loop; they may become a list, so that they are work, too."""
        numbers = range(*map(int, bounds))
        self.spend(len(numbers))
        return numbers

    def is_safe_callable(self, obj: Any) -> bool:
        """Only words of this package are called."""
        return str(getattr(obj, "__module__", "")).startswith("regraph_kg.search.transform")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Compute with numbers of usual size, and join short texts."""
        if operator == "+" and not isinstance(left, int):
            self.spend((len(left) + len(right)) // _WORK)
            return self._short(super().call_binop(context, operator, left, right))
        small = all(isinstance(one, int) and abs(one) < _LARGE for one in (left, right))
        if not small or operator == "**":
            raise NoFitError("a template computes with whole numbers of usual size")
        return super().call_binop(context, operator, left, right)

    @lru_cache(maxsize=1024)  # noqa: B019 (there is one, for as long as the program runs)
    def template(self, written: str) -> Template:
        """A template; TemplateSyntaxError if it cannot be read."""
        text = _VARIABLE_OR_BLOCK.sub(
            lambda it: f"{{{{ {it[1] or it[2]} }}}}" if it[1] or it[2] else it[0], written
        )
        return self.from_string(_Bounded().visit(self.parse(text)))

    @lru_cache(maxsize=1024)  # noqa: B019
    def condition(self, written: str) -> TemplateExpression:
        """A condition; TemplateSyntaxError if it cannot be read."""
        return self.compile_expression(written)

    def rewritten(
        self, code: str, pattern: str, template: str, using: Iterable[str] = (), **values: object
    ) -> str:
        """The code with parts that match replaced by a template; those that use a name alone."""
        edits = Edits()
        becomes = self.template(template)
        for part, bound in Pattern.of(_given(pattern, values)).places(_root(code)):
            held = {name: inner.text for name, inner in bound.items()}
            if not using or uses(text(part.nodes[0]), using):
                edits.put(part.nodes[0], becomes.render(values | held))
        return _edited(code, edits)


class _Bounded(NodeTransformer):
    """Loops that count their rounds, and texts that are looked at as they grow."""

    def visit_For(self, node: nodes.For) -> nodes.For:
        self.generic_visit(node)
        each = nodes.Name("each", "load")
        node.iter = nodes.Call(each, [node.iter], [], None, None)
        if node.recursive:
            raise PatternError("a template's loop calls itself")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:
        self.generic_visit(node)
        return nodes.Filter(node, "bounded", [], [], None, None)

    def visit_AssignBlock(self, node: nodes.AssignBlock) -> nodes.AssignBlock:
        self.generic_visit(node)
        node.filter = node.filter or nodes.Filter(None, "bounded", [], [], None, None)
        return node

    def _small(self, node: nodes.List | nodes.Tuple | nodes.Dict) -> nodes.Expr:
        self.generic_visit(node)
        return nodes.Filter(node, "small", [], [], None, None)

    visit_List = visit_Dict = _small

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:
        return self._small(node) if node.ctx == "load" else node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Macro:
        raise PatternError(f"a template has no macros: {node.name}")


def small(items: Iterable[object]) -> object:
    """A list that is small with all lists in it: one put twice into another again and again grows.

    Its texts together may be as long as one.
    """
    room, waiting = LONGEST, [items]
    while waiting:
        listed = waiting.pop()
        for item in listed.values() if isinstance(listed, dict) else listed:
            room -= len(item) if isinstance(item, str) else _WORK
            if room < 0:
                raise NoFitError("its template writes too much")
            if isinstance(item, list | tuple | dict):
                waiting.append(item)
    return items


def join(items: Iterable[object], between: str = "") -> str:
    """The texts of a list, one behind the other."""
    texts = [str(item) for item in items]
    if sum(map(len, texts)) + len(texts) * len(between) > LONGEST:
        raise NoFitError("its template writes too much")
    return between.join(texts)


def replace(code: str, old: str, new: str) -> str:
    """The text with another one for a part of it, wherever it stands."""
    if len(code) + code.count(old) * len(new) > LONGEST:
        raise NoFitError("its template writes too much")
    return code.replace(old, new)


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


def suffixed(code: str, variables: Iterable[str], suffix: str) -> str:
    """The code with a suffix behind some of its variables."""
    return _renamed(code, {name: f"{name}{suffix}" for name in variables})


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
    for node in walk(_root(code)):
        if node.type == "preproc_arg":
            edits.put(node, _NAME.sub(lambda found: values.get(found[0], found[0]), text(node)))
        elif node.type == "identifier" and text(node) in values:
            value = values[text(node)]
            parent = node.parent.type if node.parent is not None else ""
            edits.put(node, value if parent in _ENCLOSED else enclosed(value))
    return _edited(code, edits)


def indexed(code: str, names: Iterable[str], index: str) -> str:
    """The code with a last index for some of its variables: `sum` is `sum[lane]` then."""
    edits, of = Edits(), {*names}
    if of & {*declared(code)}:
        raise NoFitError("a name is declared anew")
    for node in walk(_root(code)):
        if node.type == "identifier" and text(node) in of:
            element, outer = node, node.parent
            while outer is not None and outer.child_by_field_name("argument") == element:
                if outer.type != "subscript_expression":
                    break
                element, outer = outer, outer.parent
            edits.insert(element.end_byte, f"[{index}]")
    return _edited(code, edits)


def uses(code: str, of: Iterable[str]) -> bool:
    """Whether a code uses one of some names."""
    return bool({*names(code)} & {*of})


def has(text: str, part: str) -> bool:
    """Whether a text, such as a type, has a part."""
    return str(part) in str(text)


def declared(code: str) -> list[str]:
    """The variables that a code declares."""
    found = []
    for node in walk(_root(code)):
        if node.type == "declaration":
            found += [declared_name(inner) for inner in node.children_by_field_name("declarator")]
        elif node.type == "for_range_loop":
            found.append(declared_name(node.child_by_field_name("declarator")))
        elif node.type in ("structured_binding_declarator", "lambda_expression"):
            raise NoFitError("it declares names in a way that is not followed")
    return list(dict.fromkeys(name for name in found if name))


def known_after(code: str) -> list[str]:
    """The variables that a code declares and that are known after it, too."""
    found = []
    for node in _root(code).named_children:
        if node.type == "declaration":
            found += [declared_name(inner) for inner in node.children_by_field_name("declarator")]
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
    for node in _root(code).named_children:
        if node.type == "comment":
            continue
        if node.type != "declaration":
            raise NoFitError("it does more than declare variables")
        first = node.children_by_field_name("declarator")[0]
        kind = text(node)[: first.start_byte - node.start_byte].strip()
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


def separated(code: str) -> str:
    """The code with a declaration of its own for each variable."""
    edits = Edits()
    for node in walk(_root(code)):
        if node.type == "declaration" and len(node.children_by_field_name("declarator")) > 1:
            found = variables(text(node))
            edits.put(node, " ".join(f"{v.type} {v.name} = {v.value};" for v in found if v.value))
            if not all(v.value and not v.length for v in found):
                raise NoFitError("it declares variables without values")
    return _edited(code, edits)


def changed(code: str) -> list[str]:
    """The variables, arrays and pointers that a code writes to."""
    found = []
    for node in walk(_root(code)):
        if node.type in _CHANGES:
            to = node.child_by_field_name("left") or node.child_by_field_name("argument")
            root = root_name(to)
            found.append(text(root if root is not None else to))
    return list(dict.fromkeys(found))


def slipped(code: str) -> list[str]:
    """The variables and arrays that a code changes within another expression."""
    alone = {"expression_statement", "for_statement", "comma_expression"}
    chained = {"assignment_expression"}  # a = b = 0
    found = [
        changed(text(node))
        for node in walk(_root(code))
        if node.type in _CHANGES
        and node.parent is not None
        and node.parent.type not in alone | (chained & {node.type})
    ]
    return [name for names_ in found for name in names_]


def names(code: str) -> list[str]:
    """The names that a code uses."""
    found = (text(node) for node in walk(_root(code)) if node.type == "identifier")
    return list(dict.fromkeys(name for name in found if name != "_"))  # that of the wrapper


def always(code: str) -> str:
    """The code without what runs under a condition, in an inner loop or not at all."""
    edits = Edits()
    for node in walk(_root(code)):
        unsure = _UNSURE.get(node.type, ())
        if node.type != "binary_expression" or text(node.children[1]) in ("&&", "||"):
            for part in filter(None, map(node.child_by_field_name, unsure)):
                edits.put(part, ";" if part.type.endswith(("statement", "clause")) else "0")
    return _edited(code, edits)


def varying(code: str, seeds: Iterable[str]) -> list[str]:
    """The own variables of a code whose values depend on those of `seeds`, and these."""
    own, found, before = set(declared(code)), set(seeds), 0
    while before != len(found):
        before = len(found)
        for node in walk(_root(code)):
            head = [node.child_by_field_name(field) for field in _HEADS.get(node.type, ())]
            used = {text(inner) for part in head if part is not None for inner in walk(part)}
            if used & found and node.type in ("init_declarator", "assignment_expression"):
                found |= {
                    declared_name(node) if "decl" in node.type else changed(text(node))[0]
                } & own
            elif used & found:
                found |= {*changed(text(node)), *declared(text(node))} & own
    shared = re.findall(r"__shared__[^;]*;", code)
    return sorted(found - {name for one in shared for name in declared(one)})


def jammed(code: str, count: int, varies: Iterable[str], name: str, value: str) -> str:
    """The code for several threads' parts at once: what varies is there once for each part.

    Loops and statements in which nothing of `varies` stands are there once. A part has `value` for
    the name, with its number for `$part`, and numbers behind its variables.
    """
    names_ = set(varies)
    if not 0 < count <= _MOST_PARTS:
        raise NoFitError("too many parts")
    body = tree_of(_wrapped(code)[1]).root.named_children[0].child_by_field_name("body")

    def jam(node: Node) -> str:
        if not names_ & {text(inner) for inner in walk(node)}:
            return text(node)
        heads = [node.child_by_field_name(part) for part in ("initializer", "condition", "update")]
        used = {text(inner) for part in heads if part is not None for inner in walk(part)}
        inner = node.child_by_field_name("body")
        if node.type == "compound_statement":
            return "\n".join(["{", *map(jam, node.named_children), "}"])
        if node.type == "for_statement" and inner is not None and not used & names_:
            begins = text(node)[: inner.start_byte - node.start_byte]
            parts = inner.named_children if inner.type == "compound_statement" else [inner]
            return "\n".join([begins + "{", *map(jam, parts), "}"])
        if any(one.type in _LEAVES for one in walk(node)):
            raise NoFitError("a part would leave for all parts")
        return "\n".join(
            copy(
                text(node),
                f"{name}{part}" if part else "0",
                names_ - {name},
                {name: value.replace("$part", str(part))},
            )
            for part in range(count)
        )

    return "\n".join(map(jam, body.named_children)) if body is not None else code


def calls(code: str) -> list[str]:
    """The functions that a code calls."""
    found = (called(node) for node in walk(_root(code)) if node.type == "call_expression")
    return list(dict.fromkeys(found))


def pure(code: str) -> bool:
    """Whether an expression changes nothing: no assignment, and only calls of mathematics."""
    changing = any(node.type in _CHANGES for node in walk(_root(code)))
    return not changing and {*calls(code)} <= COMPUTING


def count(code: str, pattern: str, **values: object) -> int:
    """How often a pattern stands in a code; `$x` of `values` must hold that text."""
    return len(matches(code, pattern, **values))


def matches(code: str, pattern: str, **values: object) -> list[dict[str, str]]:
    """What the metavariables hold at each place of a pattern in a code, as `count` counts them."""
    places = Pattern.of(_given(pattern, values)).places(_root(code))
    return [{name: part.text for name, part in bound.items()} for _, bound in places]


def _given(pattern: str, values: Mapping[str, object]) -> str:
    """A pattern with the texts of some metavariables in it."""
    return _VARIABLE.sub(lambda it: str(values.get(it[1] or it[2], it[0])), pattern)


def called_with(code: str, parameters: str, given: str) -> str:
    """An expression of a function as its caller writes it, of whose call the arguments are known.

    No fit where it has other names than parameters, or an argument has side effects.
    """
    listed = [node for node in walk(tree_of(f"void _({parameters}) {{}}").root)]
    heads = [node for node in listed if node.type == "parameter_declaration"]
    names_there = [declared_name(node.child_by_field_name("declarator")) for node in heads]
    calls_there = (n for n in walk(_root(f"_({given});")) if n.type == "call_expression")
    values = [text(node) for node in arguments(next(calls_there))]
    known = dict(zip(names_there, values, strict=False))
    used = {name: known.get(name, "") for name in names(code)}
    if (
        len(names_there) != len(values)
        or not all(used.values())
        or not all(map(pure, used.values()))
    ):
        raise NoFitError("the caller has no such value")
    return _renamed(code, used)


def parts(code: str, pattern: str, name: str) -> list[str]:
    """What a metavariable holds at the places of a pattern, each text once."""
    places = Pattern.of(pattern).places(_root(code))
    return list(dict.fromkeys(bound[name].text for _, bound in places))


def literals(code: str) -> list[str]:
    """The numbers that a code names."""
    return [text(node) for node in walk(_root(code)) if node.type == "number_literal"]


def pointed(code: str) -> list[str]:
    """The arrays of which a code uses elements."""
    found = (
        root_name(node)
        for node in walk(_root(code))
        if node.type in ("subscript_expression", "pointer_expression")
    )
    return list(dict.fromkeys(text(name) for name in found if name is not None))


def _edited(code: str, edits: Edits) -> str:
    """The code with edits to `_wrapped(code)`, without what is around it."""
    if len(code) + sum(len(new) for _, _, new in edits.replacements) > LONGEST:
        raise NoFitError("its template writes too much")
    head, whole, tail = _wrapped(code)
    return edits.applied(whole.encode(), len(head.encode()), len(whole.encode()) - len(tail))


def _wrapped(code: str) -> tuple[str, str, str]:
    """The code as the body of a function, with what stands in front and behind."""
    if code.rstrip().endswith((";", "}")) or not code.strip():
        return "void _() {\n", f"void _() {{\n{code}\n}}", "\n}"
    # parentheses, since `a * b[i];` declares a pointer
    return "void _() {\n(", f"void _() {{\n({code});\n}}", ");\n}"


def _root(code: str) -> Node:
    root = tree_of(_wrapped(code)[1]).root
    functions = [node.child_by_field_name("body") for node in root.named_children]
    return next((body for body in functions if body is not None), root)
