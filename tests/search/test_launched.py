"""A kernel that an answer deals out among threads is launched as the recipe has it."""

import json
from pathlib import Path

import pytest

from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.continued import continued
from regraph_kg.search.extract import read_code, unmended
from regraph_kg.search.mends.entry import RequestedEntry
from regraph_kg.search.mends.mend import MendedCode
from regraph_kg.search.prompts.beginning import beginning
from regraph_kg.search.prompts.launching import new_launch

TECHNIQUES = json.loads((Path(__file__).parents[2] / "corpus/techniques.json").read_text())
ONE_THREAD, WALKING, EACH = "<<<1, 1>>>", "<<<1024, 256>>>", "<<<(n + 255) / 256, 256>>>"
WALK = "Deal out $share.$atomic\nIn launch write `$kernelname<<<1024, 256>>>`."
EACH_ONE = "Deal out $serial.$atomic\nIn launch write `$kernelname<<<($count + 255) / 256, 256>>>`."
LOOP = "for (int i = 0; i < n; ++i)"
NUMBER = "blockIdx.x * blockDim.x + threadIdx.x"
STRIDE = f"for (int i = {NUMBER}; i < n; i += gridDim.x * blockDim.x)"
GUARDED = f"int i = {NUMBER}; if (i < n)"
COUNTED = "atomicAdd(&hist[keys[i]], 1);"


def histogram(body: str, launch: str = ONE_THREAD, arguments: str = "keys, hist, n") -> str:
    """A kernel that clears, one that counts, and the host's function."""
    return f"""__global__ void clear(int* hist) {{
    int b = {NUMBER};
    if (b < 256) hist[b] = 0;
}}

__global__ void count(const int* keys, int* hist, int n) {{
    {body}
}}

void launch(const int* keys, int* hist, int n) {{
    clear<<<2, 128>>>(hist);
    count{launch}({arguments});
}}
"""


START = histogram(f"{LOOP} hist[keys[i]] += 1;")


def comes_to(
    answer: str, recipe: str, code: str = START, finish: str = "stop", *, begun: bool = True
) -> Reply:
    """What a search gets of an answer that goes on from what was begun, or begins by itself."""
    begins = beginning(code, (), recipe) if begun else ""
    asked = Prompt(
        key=PromptKey(problem="toy", target="cuda", path=()),
        system="",
        user="",
        begun=begins,
        launch=new_launch(code, recipe),
    )
    text = answer if "```" in answer else f"```cpp\n{answer}```"
    return continued(asked, Reply.model_validate({"text": text, "finish": finish}))


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize(
    ("body", "recipe", "launch"),
    [
        (f"{STRIDE} {COUNTED}", WALK, WALKING),
        (f"const int step = gridDim.x * blockDim.x; {STRIDE[:-23]}step) {COUNTED}", WALK, WALKING),
        (f"{GUARDED} {COUNTED}", EACH_ONE, EACH),
        (f"int i = {NUMBER}; if (i >= n) return; {COUNTED}", EACH_ONE, EACH),
        (f"{STRIDE} {COUNTED}", EACH_ONE, EACH),
        (f"(void)keys; {STRIDE} {{ int k = keys[i]; atomicAdd(hist + k, 1); }}", WALK, WALKING),
    ],
)
def test_the_launch_that_an_answer_left_as_it_was_is_the_recipes(
    body: str, recipe: str, launch: str, begun: bool
) -> None:
    found = comes_to(histogram(body), recipe, begun=begun)
    guard = "if (n > 0) " if launch == EACH else ""
    assert found.code == histogram(body, launch).replace("    count<", f"    {guard}count<")
    assert found.mended == (f"count launched by {launch}",)
    assert "clear<<<2, 128>>>" in found.code


@pytest.mark.parametrize(
    "body",
    [
        f"for (int i = {NUMBER}; i < n; ++i) {COUNTED}",
        f"int t = {NUMBER}; if (t < n) {LOOP} {COUNTED}",
        f"{STRIDE} hist[keys[i]] += 1;",
    ],
)
def test_a_thread_for_each_has_no_more_to_do_than_its_own(body: str) -> None:
    assert comes_to(histogram(body), EACH_ONE).code == ""


def test_it_is_told_with_what_else_is_mended_and_left_where_nothing_is_to_be() -> None:
    answer = histogram(f"{STRIDE} atomicAdd(&hist[keys[i]], (int)sqrt(1.0));")
    found, wanted = comes_to(answer, WALK), RequestedEntry(("launch",), {})
    read, left = read_code(found, wanted, START), unmended(found, wanted)
    assert isinstance(read, MendedCode)
    assert read.done[0] == f"count launched by {WALKING}"
    assert left == MendedCode(answer)


@pytest.mark.parametrize(
    "body",
    [
        f"{LOOP} {COUNTED}",
        f"{LOOP} hist[keys[i]] += 1;",
        f"int t = {NUMBER}; if (t < n) {LOOP} {COUNTED}",
        f"{STRIDE} hist[keys[i]] += 1;",
        f"{STRIDE} {COUNTED} hist[0] += 1;",
        f"{STRIDE} {COUNTED} if (n < 0) hist[n] = 0;",
        f"{STRIDE.replace('blockIdx.x * blockDim.x + ', '')} {COUNTED}",
        f"for (int i = threadIdx.y; i < n; i += gridDim.x * blockDim.y) {COUNTED}",
        f"{STRIDE.replace('gridDim.x * ', '')} {COUNTED}",
        f"{GUARDED} {COUNTED}",
        f"__shared__ int own[256]; {STRIDE} {COUNTED}",
        f"{STRIDE} {{ {COUNTED} __syncthreads(); }}",
        f"memcpy(hist, keys, n); {STRIDE} {COUNTED}",
        f"{STRIDE.replace('< n', '< 256')} hist[i] = 0; {STRIDE} {COUNTED}",
        f"int t = {NUMBER}; if (t < n) hist[t] = 0; {STRIDE} {COUNTED}",
        f"int last = 0; {STRIDE} {{ hist[i] = keys[i] - last; last = keys[i]; }}",
        f"{STRIDE} hist[i] = keys[i] + hist[i + 1];",
    ],
    ids=[
        *("each thread does all", "unchanged", "a loop in each thread", "sums that threads share"),
        *("one place of all", "one place before", "a block's number", "another axis"),
        *("a block's steps", "one element each", "shared memory", "a barrier", "copies"),
        *("cleared first", "cleared by the same threads"),
        *("what the thread before had", "what the thread behind has"),
    ],
)
def test_more_threads_are_not_launched_where_they_would_do_something_else(body: str) -> None:
    assert comes_to(histogram(body), WALK).code == ""


ADDS = "atomicAdd(&hist[0], total);"
SUM = histogram(f"int total = 0; {LOOP} total += keys[i]; hist[0] += total;")


@pytest.mark.parametrize(
    "body",
    [
        f"int total = 0; {STRIDE} total += keys[i]; {ADDS}",
        f"int total = 0; {STRIDE} {{ if (keys[i]) total += 1; }} {ADDS}",
        f"int total = 0; {STRIDE} for (int k = 0; k < n; ++k) total += keys[k]; {ADDS}",
    ],
)
def test_threads_that_add_up_what_is_theirs_may_be_many(body: str) -> None:
    assert comes_to(histogram(body), WALK, SUM).code == histogram(body, WALKING)


@pytest.mark.parametrize(
    "body",
    [
        f"int total = 1; {STRIDE} total += keys[i]; {ADDS}",
        f"int total = 0; {STRIDE} total += keys[i]; hist[0] += total;",
        f"int total = 0; {LOOP} total += keys[i]; {ADDS}",
        f"int total = 0; {STRIDE} {{ total += keys[i]; {ADDS} }}",
        f"int total = 0; {STRIDE} total = total * 2 + keys[i]; {ADDS}",
        f"int total = 0; {STRIDE} total += keys[i]; total += 1; {ADDS}",
        f"int total = 0; {STRIDE} total += keys[i]; {ADDS} {ADDS}",
        f"int total = 0; {STRIDE} total += keys[i]; atomicExch(&hist[0], total);",
    ],
)
def test_other_sums_of_threads_are_not_added_more_often(body: str) -> None:
    assert comes_to(histogram(body), WALK, SUM).code == ""


BOUND = histogram(f"{STRIDE} {COUNTED}").replace("void count", "__launch_bounds__(64) void count")
TWICE = histogram(f"{STRIDE} {COUNTED}").replace("    clear", "    count<<<9, 9>>>(keys, hist, n);")
NO_BLOCK = histogram(f"{GUARDED} {COUNTED}").replace("    count", "    if (hist) count")


@pytest.mark.parametrize(
    ("answer", "recipe", "finish"),
    [
        (histogram(f"{STRIDE} {COUNTED}", "<<<1, 256>>>"), WALK, "stop"),
        (histogram(f"{STRIDE} {COUNTED}", arguments="keys, hist, 9"), EACH_ONE, "stop"),
        (histogram(f"{STRIDE} {COUNTED}").replace("count", "counts"), WALK, "stop"),
        (histogram(f"{STRIDE} {COUNTED}"), WALK, "length"),
        (histogram(f"{STRIDE} {COUNTED}"), "Deal out $share.", "stop"),
        (f"```\n{START}```\n```\n{histogram(f'{STRIDE} {COUNTED}')}```", WALK, "stop"),
        (BOUND, WALK, "stop"),
        (TWICE, WALK, "stop"),
        (NO_BLOCK, EACH_ONE, "stop"),
        ("I cannot.", WALK, "stop"),
    ],
    ids=[
        *("another launch", "another count", "another kernel", "cut", "no launch in the recipe"),
        *("two codes", "bounds", "launched twice", "no place for a condition", "no code"),
    ],
)
def test_an_answer_that_is_not_plainly_meant_so_stays(
    answer: str, recipe: str, finish: str
) -> None:
    assert comes_to(answer, recipe, finish=finish).code == ""


def test_a_kernel_that_the_answer_leaves_as_it_was_is_launched_as_it_says() -> None:
    walking = histogram(f"{STRIDE} {COUNTED}")
    assert new_launch(walking, WALK) is not None
    answer = walking.replace("clear<<<2, 128>>>", "clear<<<1, 256>>>")
    assert comes_to(answer, WALK, walking).code == ""


def test_what_is_counted_has_the_name_that_the_host_has_for_it() -> None:
    kernel = (
        "__global__ void twice(float* x, int m) { for (int i = 0; i <= m - 1; ++i) x[i] *= 2; }"
    )
    host = "void launch(float* x, int n) { twice<<<1, 1>>>(x, 4 * n); }"
    found = new_launch(f"{kernel}\n{host}", EACH_ONE)
    assert found is not None
    assert found.new == "<<<((4 * n) - 1 + 1 + 255) / 256, 256>>>"
    assert found.count == "(4 * n) - 1 + 1"


@pytest.mark.parametrize(
    "code",
    [
        histogram(f"const int m = n / 2; {LOOP.replace('n', 'm')} hist[keys[i]] += 1;"),
        histogram(f"{LOOP} hist[keys[i]] = hist[i];"),
        START.replace("    clear", "    count<<<9, 9>>>(keys, hist, n);\n    clear"),
        START.replace("    clear", "    count<<<1, 1>>>(keys, hist, n / 2);\n    clear"),
        START.replace("__global__ void count", "void count"),
        histogram(f"{LOOP} hist[keys[i]] += 1;", EACH),
        "",
    ],
    ids=[
        *("a name of the kernel's own", "no parallel loop", "two launches", "two counts"),
        *("no kernel", "launched so already", "no code"),
    ],
)
def test_where_it_is_not_known_how_to_launch_nothing_is_made_up(code: str) -> None:
    assert new_launch(code, EACH_ONE) is None


@pytest.mark.parametrize(
    ("name", "body", "launch"),
    [("thread-per-element", GUARDED, EACH), ("grid-stride-loop", STRIDE, WALKING)],
)
def test_the_shipped_recipes_begin_with_threads_and_launch_them(
    name: str, body: str, launch: str
) -> None:
    recipe = next(one["recipe"] for one in TECHNIQUES if one["id"] == f"cuda/{name}")
    found = comes_to(histogram(f"{body} {COUNTED}"), recipe)
    assert beginning(START, (), recipe).endswith(body)
    assert launch in found.code
