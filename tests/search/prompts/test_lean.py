"""What a model of few parameters is told: a technique, its recipe, the code."""

from dataclasses import replace

from regraph_kg.models.port import Port
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.prompts.beginning import FENCE, STOP, beginning
from regraph_kg.search.prompts.render import render
from tests.search.toy import TASK

HEAD = 'extern "C" void sums(const float* a, float* out, int rows, int n) {\n'
BODY = """    for (int r = 0; r < rows; ++r) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += a[r * n + i];
        out[r] = sum;
    }
}
"""
SUMS = f"// Sums of rows.\n{HEAD}{BODY}"
KERNEL = """__global__ void twice_kernel(float* x, int n) {
    for (int i = 0; i < n; ++i) x[i] *= 2;
}
"""
LAUNCHED = f"{KERNEL}\nvoid launch(float* x, int n) {{\n    twice_kernel<<<1, 1>>>(x, n);\n}}\n"
PORT = Port(
    entry="work",
    head="#include <cuda_runtime.h>",
    start=LAUNCHED,
    tail='extern "C" void work(float* x, int n) {\n    launch(copied(x, n), n);\n}\n',
    signature="void launch(float* x, int n)",
)


def lean(task: Task, technique: Technique) -> Prompt:
    key = PromptKey(problem="toy", target=task.target, path=(technique.id,))
    return render(task, key, code=task.start, technique=technique, prefill=True)


def technique(recipe: str, target: str = "openmp") -> Technique:
    fields = {"id": f"{target}/a", "name": "A step", "target": target, "definition": "Do it."}
    return Technique.model_validate(fields | {"recipe": recipe})


def test_a_lean_prompt_is_recipe_code_and_signature_and_its_answer_is_begun() -> None:
    task = replace(TASK, serial=SUMS, entry="sums", signature="SIGNATURE")
    prompt = lean(task, technique("Write it before the loop."))
    assert prompt.user.startswith("A step: Write it before the loop.")
    assert SUMS.strip() in prompt.user
    assert "SIGNATURE" in prompt.user
    assert prompt.begun == f"{FENCE}// Sums of rows.\n{HEAD}"
    assert prompt.stop == STOP
    assert len(prompt.user + prompt.system) < 2000


def test_a_technique_without_a_recipe_is_told_by_its_definition() -> None:
    assert lean(TASK, technique("")).user.startswith("A step: Do it.")


def test_of_a_port_a_model_sees_its_part_alone() -> None:
    task = replace(TASK, target="cuda", ports=(PORT,), port=PORT)
    prompt = lean(task, technique("Do it.", "cuda"))
    assert KERNEL in prompt.user
    assert "cuda_runtime" not in prompt.user
    assert "copied" not in prompt.user
    assert PORT.signature in prompt.user
    assert "device's memory" in prompt.system
    assert prompt.begun == f"{FENCE}__global__ void twice_kernel(float* x, int n) {{\n"
    assert task.whole(LAUNCHED) == task.start


def test_an_answer_begins_with_the_head_of_what_does_the_work() -> None:
    assert beginning(SUMS, ()) == f"{FENCE}// Sums of rows.\n{HEAD}"
    idle = "void f(float* a) { a[0] = 1; }"
    assert beginning(idle + "\n" + SUMS, ("f",)).endswith(HEAD)
    assert beginning(idle, ("f",)) == f"{FENCE}void f(float* a) {{\n"
    assert beginning("int x;", ()) == FENCE
