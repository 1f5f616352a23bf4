"""A transform is read in full or refused, fits or stays silent, and never runs away."""

import time

import pytest

from regraph_kg.search.transform.transform import Transform, carried_out, results

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
        (transform("{% macro m() %}{% endmacro %}"), "macros"),
        ("= 3", "line 1"),
    ],
)
def test_what_cannot_be_read_says_what_it_is_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        Transform.of(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "becomes",
    [
        "{% for a in range(10**9) %}x;{% endfor %}",
        "{% for a in range(999) %}{% for b in range(999) %}{% endfor %}{% endfor %}",
        "{% for a in outer %}{% for b in outer %}x;{% endfor %}{% endfor %}",
        "{{ 'x;' * 999999999 }}",
        "{{ '%99999999d' % 1 }}",
        "{{ 9 ** 9 ** 9 }}",
        "{% set x = outer %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
        "{% set x = outer %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 40 + "{{ x }}",
        "{% set x = outer + outer %}" + "{% set x = x + x %}" * 40 + "{{ x }}",
        "{{ range(1000000000) | list | length }}",
        "{{ range(1000000000) | join }}",
        "{% set x = outer %}" + "{% set x = plus(x, x) %}" * 40 + "{{ x }}",
        "{% set x = [outer] %}" + "{% set x = [x, x] %}" * 40 + "{{ x }}",
        "{% set x = (outer, outer) %}" + "{% set x = (x, x) %}" * 40 + "{{ x ~ 'a' }}",
        "{% set x = {'a': outer} %}" + "{% set x = {'a': x, 'b': x} %}" * 40 + "{{ x }}",
        "{{ outer.__class__.__mro__ }}",
        "{{ outer.loop.model_dump_json() }}",
        "{{ outer.center(99999999) }}",
        "{{ outer | replace('', outer) | replace('', outer) | replace('', outer) }}",
        "{{ outer | copy(0, [], {'i': outer ~ outer}) | copy(0, [], {'i': outer ~ outer}) }}",
        "{{ nobody }}",
        "{% include '/etc/passwd' %}",
    ],
)
def test_a_strangers_template_comes_to_an_end_and_to_nothing(becomes: str) -> None:
    start = time.process_time()
    assert all(len(code) < 1_000_000 for code in made(transform(becomes)))
    assert made(transform(becomes + "{{ nobody }}")) == []
    assert time.process_time() - start < 5
