"""`python -m tests.search.slow_regraph SECONDS VERDICTS WORDS..`: `regraph WORDS`, in no hurry.

Its model thinks for so long, and the verdicts of the trace VERDICTS are replayed.
"""

import sys
import time
from pathlib import Path

from regraph_kg.cli import app
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.prompt import Prompt, Reply
from tests.search.replayed import replay

if __name__ == "__main__":
    seconds = float(sys.argv.pop(1))
    replay(Path(sys.argv.pop(1)))
    answer = ScriptedModel.complete

    def think(model: ScriptedModel, prompt: Prompt) -> Reply:
        time.sleep(seconds)
        return answer(model, prompt)

    ScriptedModel.complete = think  # type: ignore[method-assign]
    app.main()
