"""Models by file at size: seconds and memory of a run that asks, and of the one that reads.

`python benchmarks/batch_folder.py [PROMPTS]` prints one JSON object; 100,000 prompts of 4 kB with
answers of 1 kB take 0.6 GB of disk. Each run is a process of its own.
"""

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from regraph_kg.errors import AnswersPending
from regraph_kg.llm.by_file import BatchModel
from regraph_kg.llm.model import AskOptions
from regraph_kg.models.prompt import DecisionKey, Prompt

SCHEMA = {"type": "object", "properties": {"choice": {"enum": ["one", "other"]}}}


def prompt(number: int) -> Prompt:
    return Prompt(
        key=DecisionKey(kind="relabel", subject=str(number)),
        system="s" * 2000,
        user=f"{number} " + "u" * 2000,
        answer_schema=SCHEMA,
    )


def run(folder: Path, prompts: int) -> dict[str, float]:
    """One run over all prompts, as a command does it."""
    start = time.perf_counter()
    model = BatchModel(folder, "model", AskOptions(0.0, 300, timeout=0, patience=0))
    opened = time.perf_counter()
    answered = sum(model.complete(prompt(number)).finish == "stop" for number in range(prompts))
    asked = time.perf_counter()
    with suppress(AnswersPending):
        model.finish()
    return {
        "answered": answered,
        "open_seconds": round(opened - start, 2),
        "complete_seconds": round(asked - opened, 2),
        "finish_seconds": round(time.perf_counter() - asked, 2),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def answer(folder: Path) -> None:
    """Write an answer to every pending prompt, as batch endpoints put them out."""
    message = {"role": "assistant", "content": "x" * 1000}
    body = {"model": "model", "choices": [{"message": message, "finish_reason": "stop"}]}
    with (
        (folder / "pending.jsonl").open() as prompts,
        (folder / "answers.jsonl").open("w") as answers,
    ):
        for line in prompts:
            request = json.loads(line)["custom_id"]
            response = {"status_code": 200, "body": body}
            answers.write(json.dumps({"custom_id": request, "response": response}) + "\n")


def main() -> None:
    prompts = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    fresh = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with fresh.Pool(1) as pool:
            asking = pool.apply(run, (folder, prompts))
        answer(folder)
        with fresh.Pool(1) as pool:
            reading = pool.apply(run, (folder, prompts))
    print(json.dumps({"prompts": prompts, "asking": asking, "reading": reading}))


if __name__ == "__main__":
    main()
