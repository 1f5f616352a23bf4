"""Language models by their specification.

A client is loaded with the model that needs it: the package `ollama` alone takes 0.4 s.
"""

from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.llm.by_file import BatchModel
from regraph_kg.llm.model import AskOptions, LanguageModel
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.target import Target
from regraph_kg.settings import Settings
from regraph_kg.wiring.shipped import corpus_folder


def language_model(
    settings: Settings, spec: ModelSpec, problem: str, target: Target
) -> LanguageModel:
    """The model of `spec`: recorded answers of the corpus, or `any_model`."""
    if spec.is_recorded:
        return ScriptedModel.read(corpus_folder(settings) / "recorded", problem, target)
    return any_model(settings, spec)


def any_model(settings: Settings, spec: ModelSpec) -> LanguageModel:
    """The model that `spec` names, for prompts of any kind. `BadInput` for recorded answers."""
    options = AskOptions(
        temperature=settings.model_temperature,
        max_tokens=settings.model_max_tokens,
        timeout=settings.model_timeout_seconds,
        patience=settings.patience_seconds,
    )
    if spec.kind == "ollama":
        from regraph_kg.llm.ollama import OllamaModel  # noqa: PLC0415

        return OllamaModel(settings.ollama_url, spec.name, options)
    if spec.kind == "openai":
        from regraph_kg.llm.openai_compatible import OpenAICompatibleModel  # noqa: PLC0415

        url, key = settings.openai_url, settings.openai_key
        return OpenAICompatibleModel(url, key, spec.name, options)
    if spec.kind == "none":
        return ScriptedModel("none", {})
    if spec.kind == "batch":
        return BatchModel(Path(spec.name), settings.batch_model, options)
    raise BadInput(
        f"model {spec}: no answers to such prompts are recorded; give --model ollama:NAME,"
        " openai:NAME or batch:FOLDER"
    )
