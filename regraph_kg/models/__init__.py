"""Every frozen value that crosses a border, by noun.

    technique.py    Technique, the vocabulary
    trajectory.py   Trajectory JSONL version 1: what is ingested and exported
    graph.py        what the graph is told (MergePlan) and what it answers (Neighbourhood, Example)
    evaluation.py   Outcome, Candidate, EvalReport: the judge's verdict
    prompt.py       Prompt and Reply: what a language model is asked and says
    target.py       TARGETS: what candidate code is compiled for, and all that differs with it
    model_spec.py   ModelSpec: which language model is asked
    run.py          SimulationRecord, RunSummary: what a search yields

pydantic where a value crosses a file or process, frozen dataclasses inside.
"""
