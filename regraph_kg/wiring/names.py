"""The meaning of names: vocabulary and relabelling."""

import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from regraph_kg.errors import BadInput, file_errors, first_mistake
from regraph_kg.ingest.cascade import Cascade
from regraph_kg.ingest.relabel.model import Sorter
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.technique import Technique, Vocabulary
from regraph_kg.models.trajectory import Source
from regraph_kg.models.transform import SHIPPED, Replay, StoredTransform
from regraph_kg.search.transform.transform import shipped
from regraph_kg.settings import Settings
from regraph_kg.wiring.open_model import any_model
from regraph_kg.wiring.shipped import corpus_folder


def read_vocabulary(settings: Settings, path: Path | None = None) -> tuple[Technique, ...]:
    """The techniques of `path`, by default those of the corpus; no two share a name."""
    path = path or corpus_folder(settings) / "techniques.json"
    hint = "give a list of techniques: --vocabulary, or the corpus (REGRAPH_CORPUS)"
    with file_errors(path, hint):
        content = path.read_bytes()
    try:
        techniques = TypeAdapter(tuple[Technique, ...]).validate_json(content)
        for technique in techniques:
            for name in (technique.name, *technique.aliases):
                # Names stand in prompts, terminals and pages.
                if not name.isprintable():
                    raise BadInput(f"technique {technique.id}: the name {name!r} cannot be printed")
        return Vocabulary(techniques).curated
    except ValidationError as error:
        raise BadInput(f"{path}: {first_mistake(error, 'not a list')}; {hint}") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def read_transforms(settings: Settings) -> tuple[StoredTransform, ...]:
    """The transforms of the corpus; `BadInput` for one that cannot be read."""
    found, folder = list[StoredTransform](), corpus_folder(settings) / "transforms"
    replays: dict[str, list[dict[str, object]]] = {}
    if (file := folder / "replays.json").is_file():
        for replay in json.loads(file.read_text(encoding="utf-8")):
            replays.setdefault(replay.pop("transform"), []).append(replay)
    for path in sorted(folder.rglob("*.toml")):
        try:
            known = list(shipped(path))
        except ValueError as error:
            raise BadInput(f"{path.parent}/{error}") from None
        for one, text in known:
            own = replays.get(f"{one.technique}/{one.name}", [])
            stored = StoredTransform(
                technique=one.technique,
                name=one.name,
                text=text,
                replays=TypeAdapter(tuple[Replay, ...]).validate_python(own),
                source=Source(run=SHIPPED),
            )
            found.append(stored.gated())
    return tuple(found)


def open_cascade(
    settings: Settings,
    vocabulary: Vocabulary,
    level: RelabelLevel = "exact",
    model: LanguageModel | None = None,
) -> Cascade:
    """Relabelling up to `level`; "model" asks `model`, by default that of the settings."""
    if level == "exact":
        return Cascade(vocabulary)
    model = model or any_model(settings, ModelSpec.parse(settings.model))
    return Cascade(vocabulary, Sorter(model, vocabulary))
