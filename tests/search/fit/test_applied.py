"""Whether a step did what it was asked to, by what it leaves in the code."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.run import Applied, Deed
from regraph_kg.search.fit.applied import VERBS, deed, matches, shows
from tests.corpus.corpus import CORPUS, vocabulary

VOCABULARY = vocabulary().known

REST = "".join(f"void f{n}(float* x) {{ x[{n}] = x[{n}] * 2.0f + {n}; }}\n" for n in range(30))
LOOP = """extern "C" void work(float* x, int n) {
    // doubles
    for (int i = 0; i < n; ++i) {
        x[i] = x[i] * 2.0f;
    }
}
"""
PARALLEL = LOOP.replace("    // doubles\n", "    #pragma omp parallel for\n")
SIMD = LOOP.replace("    // doubles\n", "    #pragma omp simd\n")


class Taken(NamedTuple):
    """A step of the corpus: the technique it was written for, the code before and after it."""

    technique: str
    before: str
    after: str
    source: str  # the technique of the step before it, "start" before the first
    problem: str


def steps() -> Iterator[Taken]:
    for path in sorted((CORPUS / "trajectories").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            trajectory = json.loads(line)
            before, source = trajectory["serial"], f"{trajectory['target']}/start"
            for step in trajectory["steps"]:
                yield Taken(step["technique"], before, step["code"], source, trajectory["problem"])
                before, source = step["code"], step["technique"]


STEPS = list(steps())
SEEN = {step.technique for step in STEPS}


def of_its_target(step: Taken) -> set[str]:
    """All techniques of the step's target."""
    return {name for name in SEEN if name.partition("/")[0] == step.technique.partition("/")[0]}


def all_of_its_target(step: Taken) -> list[str]:
    """All techniques that there are for the step's target."""
    return [one.id for one in VOCABULARY.values() if step.technique.startswith(one.target)]


def successors(step: Taken) -> set[str]:
    """What follows the step's source elsewhere: a search does not see its own problem's steps."""
    return {
        one.technique for one in STEPS if one.source == step.source and one.problem != step.problem
    }


def did(name: str | None, before: str, after: str, others: Iterable[str] = ()) -> Deed:
    technique = None if name is None else VOCABULARY.get(name)
    return deed(technique, before, after, [VOCABULARY[other] for other in others])


def applied(name: str, before: str, after: str) -> Applied:
    """Where any other technique of the target may be what was done."""
    target = name.partition("/")[0]
    others = [one.id for one in VOCABULARY.values() if one.target == target and one.id != name]
    return did(name, before, after, others).applied


BOTH = PARALLEL.replace("parallel for", "parallel for simd")
BY_TWO = LOOP.replace("++i", "i += 2").replace(
    "x[i] = x[i] * 2.0f;", "x[i] = x[i] * 2.0f; x[i + 1] = x[i + 1] * 2.0f;"
)
BARRIER = "#pragma omp for\nf();\n#pragma omp barrier\ng();"


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("parallel-for", LOOP, PARALLEL, "asked"),
        ("simd", LOOP, SIMD, "asked"),
        ("parallel-for", LOOP, SIMD, "other"),
        ("simd", LOOP, PARALLEL, "other"),
        ("parallel-for", PARALLEL, BOTH, "other"),  # it was there before
        ("simd", PARALLEL, BOTH, "asked"),
        ("parallel-for", LOOP, f"// #pragma omp parallel for\n{SIMD}", "other"),
        ("strength-reduction", LOOP, SIMD, "asked"),  # leaves nothing to be told by
        ("loop-unrolling", LOOP, BY_TWO, "asked"),
        ("loop-unrolling", LOOP, PARALLEL, "other"),
        ("loop-fission", LOOP, PARALLEL, "other"),  # the for of a directive is no loop
        ("barrier-removal", BARRIER, "#pragma omp for\nf(); g();", "asked"),
        ("barrier-removal", BARRIER, BARRIER.replace("g()", "h()"), "other"),
    ],
)
def test_a_technique_was_applied_where_the_step_left_what_it_leaves(
    name: str, before: str, after: str, said: str
) -> None:
    assert applied(f"openmp/{name}", before, after) == said


def test_the_for_of_a_directive_is_no_loop() -> None:
    assert did("openmp/cache-tiling", LOOP, PARALLEL, ["openmp/parallel-for"]) == Deed(
        "other", "openmp/parallel-for"
    )


def test_what_cannot_be_read_is_taken_at_its_word() -> None:
    assert applied("openmp/parallel-for", LOOP, SIMD + "}}} (") == "asked"
    assert did(None, LOOP, PARALLEL + "}}} (", ["openmp/parallel-for"]) == Deed("asked")


def test_what_is_not_known_here_is_taken_at_its_word() -> None:
    for leaves in ("new predicate_of_tomorrow", "gone simd", "more loops.petals"):
        later = VOCABULARY["openmp/simd"].model_copy(update={"leaves": (leaves,)})
        assert deed(later, LOOP, PARALLEL, []) == Deed("asked")


def test_a_technique_of_a_team_tells_what_it_leaves() -> None:
    own = VOCABULARY["openmp/simd"].model_copy(
        update={"id": "openmp/own", "leaves": ("new calls.our_kernel",)}
    )
    ours = LOOP.replace("x[i] = x[i] * 2.0f", "our_kernel(x, i)")
    assert deed(own, LOOP, ours, []) == Deed("asked")
    assert deed(own, LOOP, PARALLEL, [VOCABULARY["openmp/parallel-for"]]).applied == "other"
    assert deed(None, LOOP, ours, [*VOCABULARY.values(), own]) == Deed("other", "openmp/own")


def test_a_name_that_is_none_is_the_one_technique_that_the_code_shows() -> None:
    names = ["openmp/simd", "openmp/parallel-for", "openmp/cache-tiling"]
    assert did(None, LOOP, PARALLEL, names) == Deed("other", "openmp/parallel-for")
    assert did(None, LOOP, BOTH, names) == Deed("asked")
    assert did(None, LOOP, LOOP.replace("2.0f", "3.0f"), names) == Deed("asked")
    assert did(None, LOOP, LOOP, names) == Deed("nothing")


def test_a_code_shows_what_it_has_not_what_it_is_called() -> None:
    reduction = VOCABULARY["openmp/reduction-clause"]
    assert not shows(reduction, LOOP.replace("work", "reduction"))
    assert shows(reduction, PARALLEL.replace("parallel for", "parallel for reduction(+:s)"))


@pytest.mark.parametrize(
    "after",
    [
        LOOP,
        LOOP.replace("doubles", "twice as much"),
        LOOP.replace("    ", "\t").replace(" * ", "*"),
        re.sub(r"\bi\b", "index", LOOP),
        re.sub(r"\bx\b", "values", re.sub(r"\bn\b", "count", LOOP)),
    ],
)
def test_layout_comments_and_names_of_its_own_are_nothing(after: str) -> None:
    assert applied("openmp/parallel-for", LOOP, after) == "nothing"
    assert applied("openmp/strength-reduction", LOOP, after) == "nothing"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = sqrtf(x);", "y = __fsqrt_rn(x);"),
        ("int y = f() * sqrtf(x);", "int y = f() * rsqrtf(x);"),
        ("cudaMalloc(&p, 4);", "cudaMallocManaged(&p, 4);"),
        ("float y = 1;", "double y = 1;"),
        ("size_t y = 1;", "int y = 1;"),
        ("int i = threadIdx.x;", "int i = threadIdx.y;"),
        ("int a = 1; int b = 2; f(a - b);", "int a = 1; int b = 2; f(b - a);"),
        ("int a = 1; int b = 2; f(a);", "int c = 1; int b = 2; f(b);"),
        ("int a = 1; int b = 2; f(a - b);", "int c = 1; int c = 2; f(c - c);"),
        ("for (int i = 0; i < 4; ++i) f(i);", "for (int i = 0; i < 8; ++i) f(i);"),
    ],
)
def test_other_functions_types_and_operands_are_something(before: str, after: str) -> None:
    assert applied("cuda/memory-coalescing", before, after) != "nothing"


SUM = """float f(const float* x, int n) {
    float s = 0;
    for (int i = 0; i < n; ++i) s += x[i];
    return s;
}
"""
NEST = """void f(const float* a, float* c, int n) {
    for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) c[j] += a[j * n + i];
}
"""
TILED = NEST.replace("for (int i", "for (int b = 0; b < n; b += 64) for (int i").replace(
    "= 0; j", "= b; j"
)
TWICE = "void f(float* x, float* y, int n) { for (int i = 0; i < n; ++i) x[i] = i; %s y[i] = i; }"
TWO, FUSED = TWICE % "for (int i = 0; i < n; ++i)", (TWICE % "").replace("x[i]", "{ x[i]") + "}"
KERNEL = """__global__ void k(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    atomicAdd(out, v);
}
"""
WARP_SUM = """__device__ float add(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    return v;
}
"""
FOUR = """__device__ float four(const float* x, int i) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    return v.x + v.y + v.z + v.w;
}
"""


SHARED = SUM.replace("for", "\n#pragma omp parallel for\nfor")
VECTOR = ("for (int j", "\n#pragma omp simd\nfor (int j")
RESTRICT = ("float*", "float* __restrict__")
REDUCED = SHARED.replace("l for", "l for reduction(+:s)")
CRITICAL = SHARED.replace("s += x[i];", "{\n#pragma omp critical\ns += x[i];\n}")
ATOMIC = SHARED.replace("s += x[i]", "__atomic_fetch_add(&s, 1, 0)")
NAMED = "#define TIMES 4\n" + LOOP.replace("2.0f", "TIMES")


@pytest.mark.parametrize(
    ("name", "before", "after", "done"),
    [
        ("parallel-for", LOOP, LOOP.replace("for", "std::jthread t(g); for"), "asked"),
        ("cache-tiling", NEST, TILED.replace(*RESTRICT), "asked"),
        ("register-blocking", NEST, NEST.replace(*RESTRICT), "restrict-pointers"),
        ("cache-tiling", NEST, TILED.replace(*VECTOR), "asked"),
        ("first-touch", LOOP, PARALLEL, "parallel-for"),
        ("thread-private-copies", SUM, REDUCED, "reduction-clause"),
        ("thread-private-copies", SUM, CRITICAL, "critical-section"),
        ("atomic-updates", SUM, ATOMIC, "asked"),
        ("loop-unrolling", TWO, FUSED, "loop-fusion"),
        ("loop-collapse", TWO, FUSED, "loop-fusion"),
        ("buffer-swap", TWO, FUSED, "loop-fusion"),
        ("multiple-accumulators", SUM, SUM.replace("float s =", "float t = 0, s ="), "asked"),
        ("simd", LOOP, LOOP.replace("for", "\n#if 0\n#pragma omp simd\n#endif\nfor"), "nothing"),
        ("loop-fission", LOOP, f"#if 0\n{LOOP}#endif\n{LOOP}", "nothing"),
        ("simd", NAMED, NAMED.replace("TIMES", "BY"), "nothing"),
    ],
)  # fmt: skip
def test_only_what_proves_another_technique_replaces_a_name(
    name: str, before: str, after: str, done: str
) -> None:
    others = [
        one.id for one in VOCABULARY.values() if one.target == "openmp" and one.id[7:] != name
    ]
    found_ = did(f"openmp/{name}", before, after, others)
    assert (found_.technique or found_.applied).removeprefix("openmp/") == done


@pytest.mark.parametrize(
    ("name", "helper", "use"),
    [
        ("cuda/warp-shuffle", WARP_SUM, "atomicAdd(out, add(v))"),
        ("cuda/vectorized-loads", FOUR, "atomicAdd(out, four(x, i))"),
    ],
)
def test_what_a_helper_of_a_kernel_does_is_the_technique(name: str, helper: str, use: str) -> None:
    after = helper + KERNEL.replace("atomicAdd(out, v)", use)
    others = [one.id for one in VOCABULARY.values() if one.id.startswith("cuda")]
    assert did("cuda/pinned-memory", KERNEL + REST, after + REST, others) == Deed("other", name)


def test_a_step_that_changes_most_of_a_code_is_given_no_other_name() -> None:
    """What it proves may be a side effect."""
    rest = REST.replace("2.0f", "3.0f").replace("x[", "y[").replace("float* x", "float* y")
    for name in ("openmp/cache-tiling", None):
        small = did(name, LOOP + REST, PARALLEL + REST, ["openmp/parallel-for"])
        assert small == Deed("other", "openmp/parallel-for")
        large = did(name, LOOP + REST, PARALLEL + rest, ["openmp/parallel-for"])
        assert large.technique is None


def test_a_step_is_called_by_the_one_technique_whose_new_is_there() -> None:
    names = ["openmp/simd", "openmp/parallel-for"]
    assert did("openmp/cache-tiling", LOOP, PARALLEL, names).technique == "openmp/parallel-for"
    assert did("openmp/cache-tiling", LOOP, SIMD, names).technique == "openmp/simd"
    assert did("openmp/cache-tiling", LOOP, BOTH, names) == Deed("other")
    assert did("openmp/cache-tiling", LOOP, PARALLEL, names[:1]) == Deed("other")


@pytest.mark.parametrize("name", sorted(VOCABULARY))
def test_what_a_technique_leaves_can_be_looked_for(name: str) -> None:
    step = next(one for one in STEPS if one.technique.startswith(VOCABULARY[name].target))
    for entry in VOCABULARY[name].leaves:
        for part in entry.split(" and "):
            verb, _, what = part.partition(" ")
            assert verb in VERBS
            for code in (step.before, step.after):
                assert matches(what, facts_of(code)) is not None


@pytest.mark.nightly
def test_nearly_every_step_of_the_corpus_did_what_it_says() -> None:
    done = [applied(*step[:3]) for step in STEPS]
    assert done.count("nothing") == 0
    assert done.count("other") <= 0.02 * len(done)  # seen: 16 of 1,208


@pytest.mark.nightly
def test_without_its_name_a_step_is_seldom_called_by_a_wrong_one() -> None:
    told = [
        (step.technique, did(None, step.before, step.after, all_of_its_target(step)).technique)
        for step in STEPS
    ]
    right = sum(name == technique for technique, name in told)
    assert right >= 0.15 * len(STEPS)  # seen: 229 of 1,208, and 5 wrong
    assert sum(name not in (None, technique) for technique, name in told) <= 0.03 * right


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("among", "found_out", "named", "wrongly"),
    [
        (of_its_target, 0.4, 0.08, 0.03),
        (successors, 0.4, 0.08, 0.06),
    ],  # seen: 27,215, 6,106, 98 of 63,004; 7,293, 1,387, 60 of 15,250
)
def test_a_wrong_name_is_mostly_found_out_and_seldom_replaced_by_a_wrong_one(
    among: Callable[[Taken], set[str]], found_out: float, named: float, wrongly: float
) -> None:
    """Of each step under each name of `among` that is not its own."""
    tried = [
        (step.technique, did(name, step.before, step.after, sorted(among(step) - {name})))
        for step in STEPS
        for name in sorted(among(step) - {step.technique})
    ]
    caught = [(right, one.technique) for right, one in tried if one.applied != "asked"]
    right = sum(name == technique for technique, name in caught)
    wrong = sum(name not in (None, technique) for technique, name in caught)
    assert len(caught) >= found_out * len(tried)
    assert right >= named * len(tried)
    assert wrong <= wrongly * right


@pytest.mark.nightly
def test_code_of_the_corpus_is_equal_only_to_itself() -> None:
    codes = {step.after for step in STEPS}
    assert len({normalized(code) for code in codes}) == len(codes)
