"""`python -m tests.search.slow_regraph SECONDS WORDS..`: `regraph WORDS`, its model thinking."""

import sys
import time

from regraph_kg.cli import app
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.prompt import Prompt, Reply

if __name__ == "__main__":
    seconds = float(sys.argv.pop(1))
    answer = ScriptedModel.complete

    def think(model: ScriptedModel, prompt: Prompt) -> Reply:
        time.sleep(seconds)
        return answer(model, prompt)

    ScriptedModel.complete = think  # type: ignore[method-assign]
    app.main()
