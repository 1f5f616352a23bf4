"""`regraph next` and `Graph.next`: what follows, in which order, with which examples."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from regraph_kg import BadInput, Settings, open_graph
from regraph_kg.models.technique import Technique
from regraph_kg.models.transform import Replay, StoredTransform
from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import VOCABULARY, measured, row

__all__ = ["desk"]

LOOP = "__global__ void scale(float* y, int n) { for (int i = 0; i < n; ++i) y[i] *= 2; }"
SUM = "__global__ void sum(float* v, int n) { float t = 0; while (n--) t += v[n]; v[0] = t; }"

SERIAL = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }"


def step(label: str, code: str, *times: float, **fields: object) -> dict[str, object]:
    runs = [measured(one, run=f"2026-01-0{n + 1}") for n, one in enumerate(times)]
    return {"label": label, "code": code, "measurements": runs, **fields}


def fill(desk: Desk) -> None:
    """After the start: tiling gains much, coalescing little, and "odd trick" fails mostly."""
    failures = [
        {"after_step": 0, "label": "Odd trick", "outcome": "crashed", "device": "GPU",
         "code_hash": f"{n}"} for n in range(8)
    ]  # fmt: skip
    rows = [
        row(serial=LOOP, steps=[step("Shared memory tiling", "__global__ void f();", 0.1)],
            problem="scale"),
        row(serial=SUM, steps=[step("Shared memory tiling", "__global__ void g();", 0.25,
            reasoning="loads are shared")], problem="sum"),
        row(serial=LOOP, steps=[step("Memory coalescing", "int c;", 0.8),
            step("Shared memory tiling", "int d;", 0.4)], problem="scale"),
        row(serial=SUM, steps=[step("Odd trick", "int e;", 0.5)], failures=failures),
    ]  # fmt: skip
    assert desk.run("ingest", desk.write("file.jsonl", *rows)).code == 0


def ask(desk: Desk, code: str, *words: str) -> dict[str, object]:
    (desk.folder / "mine.cpp").write_text(code)
    done = desk.run("next", "mine.cpp", "--target", "cuda", "--device", "GPU", "--json", *words)
    found: dict[str, object] = done.json()
    return found


TWICE = """
technique = "cuda/odd-trick"
name = "by-three"
says = "Three in place of two."
match = "$x *= 2;"
becomes = "$x *= 3;"
"""


def test_a_step_whose_transform_gained_where_it_was_replayed_goes_first(desk: Desk) -> None:
    fill(desk)
    right = {"device": "GPU", "evaluator": "6", "outcome": "passed", "gain": 9.0}
    replays = tuple(
        Replay.model_validate({"example": f"t/{n}", "problem": f"p{n}"} | right) for n in range(4)
    )
    given = StoredTransform(technique="cuda/odd-trick", name="by-three", text=TWICE)
    with open_graph() as graph:
        graph._store.add_transforms([given])
    assert ask(desk, LOOP)["steps"][0]["technique"] == "cuda/shared-memory-tiling"
    with open_graph() as graph:
        graph._store.add_transforms([given.model_copy(update={"replays": replays})])
    first = ask(desk, LOOP)["steps"][0]
    assert (first["transform"], first["replays_right"]) == ("cuda/odd-trick/by-three", 4)
    assert (first["tried"], first["verified"]) == (9, 1)
    shown = desk.run("next", "mine.cpp", "--target", "cuda").out
    assert "by rule: cuda/odd-trick/by-three; right in 4 of 4 replays, 9x" in shown


def test_what_gained_most_goes_first_and_what_fails_mostly_last(desk: Desk) -> None:
    fill(desk)
    found = ask(desk, LOOP)
    assert [one["technique"] for one in found["steps"]] == [
        "cuda/shared-memory-tiling", "cuda/memory-coalescing", "cuda/odd-trick",
    ]  # fmt: skip
    first, _, last = found["steps"]
    assert first["effect"] == pytest.approx((10 * 4) ** 0.5, rel=1e-5)
    assert (first["tried"], first["verified"]) == (2, 2)
    assert (last["tried"], last["verified"]) == (9, 1)
    assert found["schema_version"] == 6
    assert found["left_out"] == []


def test_the_example_of_a_technique_began_with_the_code_most_like_ones_own(desk: Desk) -> None:
    fill(desk)
    for code, problem in ((LOOP, "scale"), (SUM, "sum")):
        found = ask(desk, code)
        (nearest,) = found["steps"][0]["nearest"]
        assert nearest["problem"] == problem
        assert nearest["similarity"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("judge", ["1", "", "a blog"])
@pytest.mark.parametrize("label", ["Memory coalescing", "Odd trick", "Never seen trick"])
def test_a_claim_of_a_million_times_moves_nothing(desk: Desk, label: str, judge: str) -> None:
    fill(desk)
    before = [(one["technique"], one["expected"]) for one in ask(desk, LOOP)["steps"]]
    claim = step(label, "int z;", 1e-6)
    claim["measurements"][0]["evaluator"] = judge  # type: ignore[index]
    done = desk.run("ingest", desk.write("claim.jsonl", row(serial=LOOP, steps=[claim])))
    assert "1 figures that no device gives or no judge measured" in done.err
    after = ask(desk, LOOP)["steps"]
    assert [(one["technique"], one["expected"]) for one in after][: len(before)] == before
    (claimed,) = [one for one in after if one["claims"]]
    assert claimed["claimed"] == pytest.approx(1e6)
    last = desk.run("next", "mine.cpp", "--target", "cuda", "--device", "GPU").out
    assert "1 claimed, not measured, 1000000x" in last
    if label == "Never seen trick":
        assert (claimed, claimed["tried"]) == (after[-1], 0)


NEST = "for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) x[j] += 1;"
FILE = f"""namespace a {{
void flat(float* x, int n) {{ for (int i = 0; i < n; ++i) x[i] *= 2; }}
struct S {{ void deep(float* x, int n) const {{ {NEST} }} }};
template <class T> void both(T* x, int n) {{ flat(x, n); }}
template <class T> void both(T* x, long n, S s) {{ s.deep(x, n); }}
}}"""


@pytest.mark.parametrize(
    ("function", "fits"),
    [
        ("flat", False),
        ("a::S::deep", True),
        ("both(T*, int)", False),
        ("a::both(T*, long, S)", True),
        (None, True),
    ],
)
def test_of_a_file_one_function_is_asked_about_with_those_that_it_calls(
    desk: Desk, function: str | None, fits: bool
) -> None:
    needing(desk, cuda_shared_memory_tiling="nest")
    fill(desk)
    words = () if function is None else ("--function", function)
    found = ask(desk, FILE, *words)["steps"]
    assert ("cuda/shared-memory-tiling" in [one["technique"] for one in found]) is fits


def test_a_function_that_is_not_there_is_one_line(desk: Desk) -> None:
    (desk.folder / "mine.cpp").write_text(FILE)
    for name, said in (("nowhere", "it defines a::flat"), ("both", "2 functions fit 'both'")):
        ended = desk.run("next", "mine.cpp", "--function", name)
        assert (ended.code, len(ended.err.splitlines())) == (2, 1)
        assert said in ended.err


def test_after_a_technique_other_techniques_follow(desk: Desk) -> None:
    fill(desk)
    found = ask(desk, LOOP, "--after", "memory coalescing")
    assert found["after"] == "cuda/memory-coalescing"
    assert [one["effect"] for one in found["steps"]] == pytest.approx([2.5], rel=1e-5)


def test_what_the_code_shows_already_goes_last_and_says_so(desk: Desk) -> None:
    tiled = "__constant__ float weights[8];"
    rows = [
        row(serial="int x;", steps=[step("Constant memory", tiled, 0.1)]),
        row(serial="int y;", steps=[step("Memory coalescing", "int c;", 0.9)]),
    ]
    leaving(desk, "cuda/constant-memory", "new constant_memory")
    desk.run("ingest", desk.write("file.jsonl", *rows))
    assert ask(desk, "int x;")["steps"][0]["technique"] == "cuda/constant-memory"
    named = ask(desk, "int constant_memory;")["steps"]
    assert not any(one["in_code"] for one in named)
    found = ask(desk, tiled)["steps"]
    assert [(one["technique"], one["in_code"]) for one in found] == [
        ("cuda/memory-coalescing", False), ("cuda/constant-memory", True),
    ]  # fmt: skip


def leaving(desk: Desk, id_: str, entry: str) -> None:
    """The vocabulary, and a technique more that leaves something."""
    name = id_.partition("/")[2].replace("-", " ")
    own = Technique(id=id_, name=name, target="cuda", leaves=(entry,))
    text = json.dumps([one.model_dump() for one in (*VOCABULARY, own)])
    (desk.folder / "corpus" / "techniques.json").write_text(text)


def needing(desk: Desk, **needs: str) -> None:
    """The vocabulary, where techniques (target_name) need something."""
    told = {name.replace("_", "/", 1).replace("_", "-"): need for name, need in needs.items()}
    told_of = [
        one.model_copy(update={"needs": (told[one.id],)} if one.id in told else {})
        for one in VOCABULARY
    ]
    text = json.dumps([one.model_dump() for one in told_of])
    (desk.folder / "corpus" / "techniques.json").write_text(text)


def test_what_cannot_apply_is_left_out_and_why_is_told_if_asked(desk: Desk) -> None:
    needing(desk, cuda_shared_memory_tiling="threads", cuda_memory_coalescing="threads")
    fill(desk)
    found = ask(desk, SERIAL)
    assert "cuda/shared-memory-tiling" not in [one["technique"] for one in found["steps"]]
    left = {one["technique"]: one["why"] for one in found["left_out"]}
    assert set(left) == {"cuda/shared-memory-tiling", "cuda/memory-coalescing"}
    assert left["cuda/shared-memory-tiling"].startswith("Needs ")
    done = desk.run("next", "mine.cpp", "--target", "cuda", "--device", "GPU")
    (last,) = (line for line in done.out.splitlines() if line.startswith("left out"))
    assert all(name in last for name in left)


def test_serial_code_that_few_fit_is_told_what_fits_and_was_done_elsewhere(desk: Desk) -> None:
    needing(desk, openmp_cache_tiling="nest", openmp_simd="loop")
    steps = [step("Cache tiling", "int y;", 0.5), step("SIMD vectorization", "int z;", 0.25)]
    rows = [row(serial="int x;", target="openmp", steps=steps)]
    assert desk.run("ingest", desk.write("file.jsonl", *rows)).code == 0
    (desk.folder / "mine.cpp").write_text(SERIAL)
    done = desk.run("next", "mine.cpp", "--device", "GPU", "--json")
    (first,) = done.json()["steps"]
    assert (first["technique"], first["follows"], first["fits"]) == ("openmp/simd", False, True)
    assert first["effect"] == pytest.approx(4.0, rel=1e-5)
    assert [one["source"] for one in first["nearest"]] == ["openmp/cache-tiling"]


def test_an_empty_graph_is_an_honest_negative_that_says_how_to_fill_it(desk: Desk) -> None:
    (desk.folder / "mine.cpp").write_text(LOOP)
    done = desk.run("next", "mine.cpp")
    assert (done.code, "regraph ingest --starter" in done.out) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ("absent.cpp",),
        ("blank.cpp",),
        ("mine.cpp", "--after", "tilling"),
        ("mine.cpp", "--after", "cuda/memory-coalescing"),
        ("/dev/zero",),
    ],
)
def test_bad_input_is_one_line_that_names_it(desk: Desk, words: tuple[str, ...]) -> None:
    fill(desk)
    (desk.folder / "mine.cpp").write_text(LOOP)
    (desk.folder / "blank.cpp").write_text(" \n")
    done = desk.run("next", *words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert words[-1] in done.err


def test_threads_share_one_graph(desk: Desk, embedded_settings: Settings) -> None:
    fill(desk)
    with open_graph() as graph, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(graph.next, LOOP, target="cuda", device="GPU") for _ in range(24)]
        first, *others = [one.result() for one in asked]
        assert all(other == first for other in others)
        seen = graph.examples("start", "smem tiling", near=SUM)
        assert [one.problem for one in seen] == ["sum", "scale"]
        with pytest.raises(BadInput, match="not in the graph"):
            graph.technique("nothing like it")
