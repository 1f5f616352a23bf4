"""A transform is read in full or refused, fits or stays silent, and never runs away."""

import pytest

from regraph_kg.search.transform import apart
from regraph_kg.search.transform.apart import SECONDS, answer, is_any_readable, results
from regraph_kg.search.transform.transform import Transform, carried_out

CODE = """
void scale(float* x, const float* y, int n) {
    for (int i = 0; i < n; ++i) {
        float t = y[i];
        x[i] = 2 * t;
    }
}
"""
LOOP = "outer: for (int $i = $a; $i < $n; ++$i) { $$$body; }"
UNROLLED = """
for (int $i = $a; $i + $k <= $n; $i += $k) {
{% for u in range(k) %}
    {{ body | copy(u, [], {i: plus(i, u)}) }}
{% endfor %}
}
"""


def transform(
    becomes: str = UNROLLED, where: str = "", match: str = LOOP, more: str = "parameters.k = [2, 4]"
) -> str:
    return f"""
technique = "openmp/loop-unrolling"
name = "several"
says = "Several iterations stand one behind the other."
match = '''{match}'''
becomes = '''{becomes}'''
where = [{where}]
{more}
"""


def made(text: str, code: str = CODE) -> list[str]:
    return [result.code for result in results(code, (text,))]


def test_copies_have_variables_of_their_own_and_indices_of_theirs() -> None:
    two, four = made(transform())
    assert "float t_1 = y[i + 1];" in two
    assert "x[i + 1] = 2 * t_1;" in two
    assert "t_2" not in two
    assert "x[i + 3] = 2 * t_3;" in four


def test_a_condition_on_facts_decides() -> None:
    assert len(made(transform(where='"outer.parallel"'))) == 2
    carried = CODE.replace("x[i] = 2 * t", "x[i + 1] = x[i] + t")
    assert made(transform(where='"outer.parallel"'), carried) == []
    assert made(transform(where='"outer.loop.nothing_of_that_name"')) == []


def test_nothing_is_done_twice_or_to_what_a_loop_left() -> None:
    split = """
    const int $w = $a + ($n - $a) / $k * $k;
    for (int $i = $a; $i < $w; $i += $k) { $$$body; }
    for (int $i = $w; $i < $n; ++$i) { $body }
    """.replace("$w", "{{ fresh('whole') }}").replace("$$$body;", "$body")
    once = made(transform(split))[0]
    assert "whole" in once
    assert made(transform(split), once) == []


def test_a_directive_is_never_lost() -> None:
    shared = CODE.replace("    for", "#pragma omp parallel for\n    for")
    assert made(transform(), shared) == []
    assert "#pragma omp parallel for\nfor" in "\n".join(
        line.strip()
        for line in made(transform("{{ outer.directives }}" + UNROLLED.strip()), shared)[
            0
        ].splitlines()
    )


def test_helpers_and_headers_come_once_and_other_places_change_too() -> None:
    text = transform(
        "twice(x, n);",
        match="for ($$$h;;) { $$$body; }",
        more="before = 'static void twice(float* x, int n) {}'\nincludes = ['<cmath>']\n"
        "[[also]]\nmatch = 'scale($$$args)'\nbecomes = 'scale(/* all */ $args)'",
    )
    (new,) = made(text, CODE + "void g(float* a) { scale(a, a, 3); }\n")
    assert new.startswith("#include <cmath>\n")
    assert new.count("static void twice") == 1
    assert new.index("static void twice") < new.index("void scale")
    assert "scale(/* all */ a, a, 3);" in new
    assert made(text) == []  # nobody calls it


def test_code_that_cannot_be_read_is_left_alone() -> None:
    assert list(carried_out(Transform.of(transform()), CODE + "void g( {")) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("technique = 'openmp/x'", "match"),
        (transform(match="for (int"), "no C++"),
        (transform("{% for u in %}"), "[Ee]xpected"),
        (transform(where='"outer.("'), "expected"),
        (transform(more="import_ = 'os'"), "import_"),
        (transform(more="includes = ['<a>\\n#include <b>']"), "includes.0"),
        (transform(where='"' + "(" * 3000 + '"'), "recursion"),
        ("a = " + "[" * 9000, "recursion"),
        ("= 3", "line 1"),
    ],
)
def test_what_cannot_be_read_says_what_it_is_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        Transform.of(text)
    assert "\n" not in str(error.value)


MANY = CODE.replace("    for", "    g();\n" * 60 + "    for")


@pytest.mark.parametrize(
    "text",
    [
        transform("{% for a in range(10**9) %}x;{% endfor %}"),
        transform("{% for a in range(999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"),
        transform("{{ 10 ** 99999999 ~ '' }}"),
        transform(where='"10 ** 99999999 % 7 == 3"'),
        transform("{% set x = outer %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}"),
        transform("{% set x = [outer] %}" + "{% set x = [x, x] %}" * 40 + "{{ x }}"),
        transform("{% macro m(n) %}{{ m(n - 1) ~ m(n - 1) if n }}{% endmacro %}{{ m(60) }}"),
        transform("{{ body | jammed(1000000000, ['i'], 'i', 'i$part') }}"),
        transform("{{ ('(' * 30000 ~ 'x' ~ ')' * 30000) | count('(($x))') }}"),
        transform(
            "{% set x = 'xy' * 999999 %}{% for a in range(99999) if x is has('z') %}{% endfor %}"
        ),
        transform("{{{{{{" * 3000),
        transform(match="".join(f"$$$x{k}; g(); $$$y{k}; g(); " for k in range(9)) + "h();"),
        transform(more="parameters.k = [2]\nbefore = '{% for a in range(10**9) %}x{% endfor %}'"),
        ".".join("a" * 50_000) + " = 1",
    ],
)
def test_a_strangers_transform_ends_is_told_and_costs_nothing_from_then_on(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "SECONDS", 0.4)
    told = answer(text, MANY)
    assert told.made == ()
    assert told.error == "it takes more than 1.5 seconds or 1 GiB, and is left out"
    assert answer(text, CODE) == answer(text) == told
    assert not is_any_readable((text,))
    assert results(CODE, (text, transform(more="parameters.k = [2]")))


def test_what_is_left_out_is_told_by_name() -> None:
    text = transform("{{ outer | parts_of_before }}")
    assert results(CODE, (text,)) == ()
    [line] = [line for line in apart.faults() if "parts_of_before" in line]
    assert line == "openmp/loop-unrolling/several: No filter named 'parts_of_before'."


@pytest.mark.parametrize(
    "becomes",
    [
        "{{ outer.__class__.__mro__ }}",
        "{{ outer.loop.model_dump_json() }}",
        "{{ outer.center(99999999) }}",
        "{{ '{:99999999}'.format(1) }}",
        "{{ 'x;' * 999999 }}",
        "{{ '%99999999999d' % 1 }}",
        "{{ nobody }}",
        "{{ fresh }}",
        "{% include '/etc/passwd' %}",
    ],
)
def test_a_strangers_template_reads_nothing_and_writes_no_endless_text(becomes: str) -> None:
    assert made(transform(becomes)) == []


def test_a_transform_that_is_slow_on_each_code_is_left_out_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apart, "MORE", 0.02)  # less than any machine needs for the loop
    slow = transform("{% for a in range(9000000) %}{% endfor %}{{ outer }}//", more="")
    told = [answer(slow, f"{CODE}// {number}") for number in range(20)]
    assert told[-1].error
    assert sum(one.seconds for one in told) < SECONDS + 20 * 0.02


def test_a_code_that_is_slow_to_read_is_told_and_charges_no_transform(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apart, "READING", 0.4)
    deep = f"int d(int n) {{ return {'n ? 1 : ' * 10_000} 0; }}\n{CODE}"
    text = transform(more="parameters.k = [5]")
    assert results(deep, (text,)) == ()
    assert any(f"{len(deep):,} characters" in line for line in apart.slow())
    assert made(text)


def test_all_transforms_of_a_code_have_a_time_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "TOGETHER", 0.001)
    slow = "{% for a in range(2000000) %}{% endfor %}" + UNROLLED
    texts = tuple(transform(slow, more=f"parameters.k = [{k}]") for k in (6, 7))
    code = f"{CODE}// together"
    (only,) = results(code, texts)
    assert "i += 6" in only.code
    assert any(f"{len(code)} characters takes too long" in line for line in apart.faults())
