"""Language models and embedders by their specification."""

from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.llm import batch
from regraph_kg.llm.batch import BatchModel, BatchStatus
from regraph_kg.llm.embedder import Embedder, Prompts, Serving, open_embedder, spec_of
from regraph_kg.llm.model import LanguageModel
from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.llm.openai_compatible import Endpoint, OpenAICompatibleModel
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.graph import EmbeddingSpace
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
    if spec.kind == "ollama":
        return OllamaModel(
            settings.ollama_url,
            spec.name,
            timeout=settings.model_timeout_seconds,
            temperature=settings.model_temperature,
            max_tokens=settings.model_max_tokens,
            patience=settings.patience_seconds,
        )
    if spec.kind == "openai":
        return _openai_model(settings, spec.name)
    if spec.kind == "batch":
        return BatchModel(
            spec.folder,
            settings.batch_model,
            temperature=settings.model_temperature,
            max_tokens=settings.model_max_tokens,
        )
    raise BadInput(
        f"model {spec}: no answers to such prompts are recorded; give --model ollama:NAME,"
        " openai:NAME or batch:FOLDER"
    )


def _openai_model(settings: Settings, name: str) -> LanguageModel:
    return OpenAICompatibleModel(
        Endpoint(settings.openai_url, settings.openai_key),
        name,
        timeout=settings.model_timeout_seconds,
        temperature=settings.model_temperature,
        max_tokens=settings.model_max_tokens,
        patience=settings.patience_seconds,
    )


def batch_status(folder: Path) -> BatchStatus:
    """Counts of prompts and answers in the folder of a model "batch:FOLDER"."""
    return batch.status(folder)


def embedder_of(settings: Settings, space: EmbeddingSpace | None = None) -> Embedder:
    """The embedder of these settings; where they name none, that of `space`, a graph's.

    Raises `BadInput` for an embedder of another space than `space`.
    """
    unset = "hash" if space is None else spec_of(space)
    serving = Serving(
        settings.ollama_url,
        timeout=settings.model_timeout_seconds,
        patience=settings.patience_seconds,
        device=settings.embedder_device,
        prompts=Prompts(settings.embedder_query_prompt, settings.embedder_document_prompt),
    )
    opened = open_embedder(settings.embedder or unset, serving)
    if space is not None and opened.space != space:
        named = spec_of(opened.space)
        remedy = "" if named == unset else f"set REGRAPH_EMBEDDER={unset}, or "
        raise BadInput(
            f"the graph holds embeddings {space.difference(opened.space)}: {remedy}change the"
            f" graph with regraph graph embed --embedder {named}"
        )
    return opened
