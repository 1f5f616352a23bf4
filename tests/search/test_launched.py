"""A kernel that an answer deals out among threads is launched as the recipe has it, if right."""

import pytest

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import Task
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.beginning import beginning
from regraph_kg.search.prompts.launching import new_launch
from regraph_kg.search.read_answer import continued
from regraph_kg.search.sample import SampleVerdict, Verdicts
from regraph_kg.search.world import Evaluate
from tests.corpus.corpus import vocabulary
from tests.search.toy import TASK, header, judge
from tests.search.toy import code as toy_code

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


def verdict(
    answer: str, recipe: str, *, begun: bool = True, wrong: str = "nothing"
) -> tuple[list[str], SampleVerdict]:
    """What a judge gets of an answer, and the verdict; code with `wrong` in it is wrong."""
    task = Task("toy", "cuda", START, "launch", TASK.signature)
    asked = Prompt(
        key=PromptKey(problem="toy", target="cuda", path=()),
        system="",
        user="",
        begun=beginning(START, (), recipe) if begun else "",
        launch=new_launch(START, recipe),
    )
    work = Verdicts(task, Ledger(header(9).limits)).judge(
        continued(asked, Reply(text=f"```cpp\n{answer}```", finish="stop")), START
    )
    got = list[str]()
    said: EvalReport | None = None
    while True:
        try:
            effect = work.send(said) if said else next(work)
        except StopIteration as end:
            return got, end.value[0]
        assert isinstance(effect, Evaluate)
        got.append(effect.candidate.code)
        outcome = Outcome.WRONG_ANSWER if wrong in got[-1] else Outcome.PASSED
        said = judge(Candidate("cuda", toy_code(0.5))).model_copy(update={"outcome": outcome})


def judged(answer: str, recipe: str, *, begun: bool = True) -> list[str]:
    return verdict(answer, recipe, begun=begun)[0]


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize(
    ("body", "recipe", "launch"),
    [
        (f"{STRIDE} {COUNTED}", WALK, WALKING),
        (f"{GUARDED} {COUNTED}", EACH_ONE, EACH),
        (f"int i = {NUMBER}; if (i >= n) return; {COUNTED}", EACH_ONE, EACH),
        (f"(void)keys; {STRIDE} {{ int k = keys[i]; atomicAdd(hist + k, 1); }}", WALK, WALKING),
    ],
)
def test_the_launch_that_an_answer_left_as_it_was_is_the_recipes(
    body: str, recipe: str, launch: str, begun: bool
) -> None:
    codes, found = verdict(histogram(body), recipe, begun=begun)
    wanted = histogram(body, launch)
    if launch == EACH:  # a grid of 0 blocks is an error
        wanted = wanted.replace("    count", "    { if (n > 0) count").replace("n);\n", "n); }\n")
    assert codes == [wanted]
    assert found.mended == (f"count launched by {launch}",)


def test_where_that_is_not_right_the_answer_is_judged_as_it_stands() -> None:
    answer = histogram(f"{STRIDE} hist[keys[i]] += 1;")
    codes, found = verdict(answer, WALK, wrong="1024")
    assert codes == [answer.replace(ONE_THREAD, WALKING), answer]
    assert (found.outcome, found.mended) == (Outcome.PASSED, ())
    both, failed = verdict(answer, WALK, wrong="hist")
    assert both == codes
    assert (failed.outcome, failed.mended) == (Outcome.WRONG_ANSWER, ())


TWICE = histogram(f"{STRIDE} {COUNTED}").replace("    clear", "    count<<<9, 9>>>(keys, hist, n);")
IN_VALUE = histogram(f"{STRIDE} {COUNTED}").replace("    count", "    (void)0, count")


@pytest.mark.parametrize(
    ("answer", "recipe"),
    [
        (histogram(f"{STRIDE} {COUNTED}", "<<<1, 256>>>"), WALK),
        (histogram(f"{LOOP} {COUNTED}"), WALK),
        (START.replace("clear<<<2, 128>>>", "clear<<<1, 256>>>"), WALK),
        (histogram(f"{STRIDE} {COUNTED}"), "Deal out $share."),
        (TWICE, WALK),
        (IN_VALUE, EACH_ONE),
    ],
    ids=[
        *("another launch", "no thread's number", "the kernel as it was", "none in the recipe"),
        *("launched twice", "no statement"),
    ],
)
def test_an_answer_that_is_not_plainly_meant_so_is_judged_once(answer: str, recipe: str) -> None:
    assert judged(answer, recipe) == [answer]


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
        START.replace("<<<1, 1>>>", "<<<1, 1, 0, s>>>"),
        histogram(f"{LOOP} hist[keys[i]] += 1;", arguments="keys, hist, n++"),
        histogram(f"{LOOP.replace('< n', '< keys[0]')} hist[keys[i]] += 1;"),
        histogram(f"{LOOP.replace('i = 0', 'i = -n')} hist[keys[i + n]] += 1;"),
        "",
    ],
    ids=[
        *("a name of the kernel's own", "no parallel loop", "two launches", "two counts"),
        *("no kernel", "launched so already", "a stream", "an argument that does something"),
        *("a count on the device", "from below 0", "no code"),
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
    recipe = vocabulary().known[f"cuda/{name}"].recipe
    assert beginning(START, (), recipe).endswith(body)
    assert launch in judged(histogram(f"{body} {COUNTED}"), recipe)[0]
