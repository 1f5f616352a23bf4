"""What a server's prompt cache saves on our prompts: tokens sent against tokens evaluated.

`python benchmarks/run.py prompt_cache` prints one JSON object. A real Ollama with one slot (see
docs/models.md) serves a model of random weights, at least one token a byte, to the real client; the
prompts matter, not what is answered. They are those of a search of one problem: techniques in
turn, of each two samples, and of each sample one repair. They are sent three times: as they are
(the constant part first), with the constant part behind the rest, and each with a first line of its
own, so that no two begin alike.

Sent are the server's prompt_eval_count, which stays full on a cache hit. Evaluated are, of each
prompt, the tokens that were not in the cache, as the server's debug log tells when it looks there
("loading cache slot", "remaining"). Times are the server's prompt_eval_duration: they depend on
the model and the machine, the counts do not.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

from regraph_kg.llm.model import AskOptions
from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.prompts.adviser import Adviser
from regraph_kg.search.prompts.known_failures import KnownFailures
from regraph_kg.search.prompts.render import FailedAnswer, render
from tests.llm import real_ollama

CORPUS = Path(__file__).parents[1] / "corpus"
PROBLEM, TARGET = "matmul", "openmp"
TECHNIQUES, SAMPLES, CONTEXT, ANSWER = 3, 2, 32_768, 16
LOOKED = re.compile(r'msg="loading cache slot".* prompt=(\d+) used=(\d+) remaining=(\d+)')


def prompts() -> Iterator[Prompt]:
    """Those of a search: a sample, its repair, the next sample."""
    code = (CORPUS / "problems" / PROBLEM / "serial.cpp").read_text(encoding="utf-8")
    task = Task(PROBLEM, TARGET, code, PROBLEM, f'extern "C" void {PROBLEM}()')
    listed = json.loads((CORPUS / "techniques.json").read_text(encoding="utf-8"))
    known = [Technique.model_validate(one) for one in listed if one["target"] == TARGET]
    adviser = Adviser(lambda *_: (), KnownFailures(lambda *_: (), 0), Prompting())
    failure = FailedAnswer(Outcome.WRONG_ANSWER, "c[0] is 1.5 and should be 2.5 (n = 1)", code)
    for technique in known[:TECHNIQUES]:
        advice = adviser("openmp/start", technique, code)
        for attempt in range(SAMPLES):
            for repair, failed in enumerate((None, failure)):
                key = PromptKey(
                    problem=PROBLEM,
                    target=TARGET,
                    path=(technique.id,),
                    attempt=attempt,
                    repair=repair,
                )
                yield render(task, key, code=code, advice=advice, failure=failed, seed=attempt)


def first(number: int, prompt: Prompt) -> Prompt:
    """As it is."""
    return prompt


def last(number: int, prompt: Prompt) -> Prompt:
    """The constant part behind the rest."""
    return prompt.model_copy(update={"system": "", "user": f"{prompt.user}\n\n{prompt.system}"})


def alone(number: int, prompt: Prompt) -> Prompt:
    """A first line that no other prompt has."""
    return prompt.model_copy(update={"system": f"{number:03d}\n{prompt.system}"})


class Counter:
    """Sums what the server tells of each prompt."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self.sent = 0
        self.nanoseconds = 0

    def heard(self, response: httpx.Response) -> None:
        said = json.loads(response.read())
        self.sent += said["prompt_eval_count"]
        self.nanoseconds += said["prompt_eval_duration"]

    def evaluated(self) -> list[int]:
        """Of each prompt so far."""
        text = self._log.read_text(encoding="utf-8", errors="replace")
        return [int(found[3]) for found in LOOKED.finditer(text)]


def measured(
    change: Callable[[int, Prompt], Prompt], asked: Sequence[Prompt], model: OllamaModel, log: Path
) -> dict[str, Any]:
    counter = Counter(log)
    model.complete(asked[0].model_copy(update={"user": "another one", "system": "warm"}))
    before = len(counter.evaluated())
    hooks = model._server.http.event_hooks  # the client itself keeps no times of parts
    model._server.http.event_hooks = hooks | {"response": [counter.heard]}
    for number, prompt in enumerate(asked):
        model.complete(change(number, prompt))
    evaluated = counter.evaluated()[before:]
    assert len(evaluated) == len(asked), "the server's log tells nothing of its cache"
    return {
        "order": (change.__doc__ or "").rstrip("."),
        "prompts": len(asked),
        "sent_tokens": counter.sent,
        "evaluated_tokens": sum(evaluated),
        "evaluated_share": round(sum(evaluated) / counter.sent, 4),
        "prompt_seconds": round(counter.nanoseconds / 1e9, 3),
    }


def rows(folder: Path) -> tuple[str, list[dict[str, Any]]]:
    """The server's version, and the figures of each order."""
    settings = {"OLLAMA_DEBUG": "1", "OLLAMA_NUM_PARALLEL": "1"}
    with real_ollama.serving_random_weights(folder, CONTEXT, **settings) as url:
        model = OllamaModel(url, "tiny", AskOptions(0.7, ANSWER, timeout=300, patience=0))
        asked, log = list(prompts()), folder / real_ollama.LOG
        figures = [measured(change, asked, model, log) for change in (first, last, alone)]
        return str(httpx.get(f"{url}/api/version").json()["version"]), figures


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        version, figures = rows(Path(folder))
    alone_seconds = figures[-1]["prompt_seconds"]
    for row in figures:
        share = row["prompt_seconds"] / alone_seconds if alone_seconds else 1.0
        row["time_share"] = round(share, 4)
    print(json.dumps({"benchmark": "prompt_cache", "ollama": version, "rows": figures}))


if __name__ == "__main__":
    main()
