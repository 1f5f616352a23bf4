"""From settings to parts: only this package names concrete stores, models and judges.

A module of it is loaded when a name of it is first used, so that a command loads only what it
needs: the judge alone must not load a database driver.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regraph_kg.wiring.answers import any_model, batch_status, embedder, language_model
    from regraph_kg.wiring.judges import (
        judged_here,
        know_peaks,
        local_judge,
        open_judge,
        open_judges,
    )
    from regraph_kg.wiring.key import trace_key
    from regraph_kg.wiring.names import cascade, recorded_verdicts, vocabulary
    from regraph_kg.wiring.problems import (
        beats_shipped,
        check_problem,
        chosen_problem,
        declared_problem,
        find_problem,
        first_use,
        good_problem,
        home_of,
        is_refused,
        named_paths,
        open_adopter,
        problem_folder,
        task_of,
    )
    from regraph_kg.wiring.searches import (
        DrySearch,
        OpenSearch,
        OpenSearches,
        open_dry_search,
        open_search,
        open_searches,
    )
    from regraph_kg.wiring.shipped import (
        corpus_files,
        corpus_folder,
        nobody_hears,
        problem_names,
        starter_files,
    )
    from regraph_kg.wiring.stores import (
        browser_query,
        embedded_folder,
        find_embedded,
        open_purge,
        open_reader,
        open_store,
        start_embedded,
        stop_embedded,
        store_address,
        write_browser_pack,
    )

NAMES = {
    "answers": "any_model batch_status embedder language_model",
    "judges": "judged_here know_peaks local_judge open_judge open_judges",
    "key": "trace_key",
    "names": "cascade recorded_verdicts vocabulary",
    "problems": "beats_shipped check_problem chosen_problem declared_problem find_problem"
    " first_use good_problem home_of is_refused named_paths open_adopter"
    " problem_folder task_of",
    "searches": "DrySearch OpenSearch OpenSearches open_dry_search open_search open_searches",
    "shipped": "corpus_files corpus_folder nobody_hears problem_names starter_files",
    "stores": "browser_query embedded_folder find_embedded open_purge open_reader open_store"
    " start_embedded stop_embedded store_address write_browser_pack",
}
"""Names by their modules, as they are imported above."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        for module, names in NAMES.items():
            if name in names.split():
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
