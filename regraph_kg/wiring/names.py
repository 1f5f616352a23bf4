"""The meaning of names: vocabulary, relabelling, audit."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from regraph_kg.errors import BadInput
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.target import Target
from regraph_kg.settings import Settings
from regraph_kg.wiring.answers import any_model, embedder
from regraph_kg.wiring.shipped import corpus_folder

if TYPE_CHECKING:
    from regraph_kg.graph import Curator
    from regraph_kg.ingest.relabel.cascade import Cascade
    from regraph_kg.llm.model import LanguageModel
    from regraph_kg.models.curation import Cluster
    from regraph_kg.models.graph import RelabelLevel
    from regraph_kg.models.technique import Technique, Vocabulary


def audit(curator: "Curator") -> "list[tuple[Cluster, ...]]":
    """The audit of a graph's vocabulary, in pages."""
    from regraph_kg.ingest.audit import audit  # noqa: PLC0415
    from regraph_kg.ingest.clusters import clusters, pages  # noqa: PLC0415
    from regraph_kg.ingest.relabel.candidates import Shortlists  # noqa: PLC0415

    usage = curator.usage()
    shortlists = Shortlists([use.technique for use in usage])

    def near(name: str, target: Target) -> Iterator[tuple[str, float]]:
        for candidate in shortlists.of(name, target).candidates:
            yield candidate.technique.id, candidate.score

    return pages(clusters(audit(usage, curator.verdicts(), curator.log(), near)))


def vocabulary(settings: Settings, path: Path | None = None) -> "tuple[Technique, ...]":
    """The techniques of `path`, by default those of the corpus; no two share a name."""
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

    from regraph_kg.models.technique import Technique, Vocabulary  # noqa: PLC0415

    path = path or corpus_folder(settings) / "techniques.json"
    hint = "give a list of techniques: --vocabulary, or the corpus (REGRAPH_CORPUS)"
    try:
        techniques = TypeAdapter(tuple[Technique, ...]).validate_json(path.read_bytes())
        for technique in techniques:
            for name in (technique.name, *technique.aliases):
                if not name.isprintable():
                    raise BadInput(f"technique {technique.id}: the name {name!r} cannot be printed")
        return Vocabulary(techniques).curated
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; {hint}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{path}: {where or 'not a list'}: {first['msg']}; {hint}") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def cascade(
    settings: Settings,
    vocabulary: "Vocabulary",
    level: "RelabelLevel",
    model: "LanguageModel | None" = None,
) -> "Cascade":
    """The relabelling of names that `vocabulary` does not list, up to `level`.

    At "model" it asks `model`, by default that of the settings.
    """
    from regraph_kg.ingest.relabel.candidates import Shortlists  # noqa: PLC0415
    from regraph_kg.ingest.relabel.cascade import Cascade  # noqa: PLC0415
    from regraph_kg.ingest.relabel.lexical import LexicalRule  # noqa: PLC0415
    from regraph_kg.ingest.relabel.sorting import Sorter  # noqa: PLC0415

    if level == "exact":
        return Cascade(vocabulary)
    # Only names by people count: the meaning of a name must not depend on other ingests now.
    named = [candidate for candidate in vocabulary.candidates if not candidate.review]
    lexical = LexicalRule(named)
    if level == "lexical":
        return Cascade(vocabulary, lexical, Shortlists(named))
    embeds = embedder(settings)
    shortlists = Shortlists(vocabulary.candidates, embeds)
    model = model or any_model(settings, ModelSpec.parse(settings.model))
    sorter = Sorter(model, vocabulary, embeds)
    return Cascade(vocabulary, lexical, shortlists, sorter, model.finish)


def recorded_verdicts(settings: Settings) -> "LanguageModel":
    """The recorded answers to labels of the corpus's labelled set (half "test")."""
    from regraph_kg.ingest.check import RecordedVerdicts  # noqa: PLC0415

    return RecordedVerdicts(corpus_folder(settings) / "relabel" / "recorded" / "test.jsonl")
