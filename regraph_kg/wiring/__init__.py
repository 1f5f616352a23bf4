"""From settings to parts: only this package names concrete stores, models and judges.

Each function imports what it builds, so that a command loads only what it needs: the judge alone
must not load a database driver.
"""

from regraph_kg.wiring.answers import any_model, batch_status, embedder, language_model
from regraph_kg.wiring.judges import (
    judged_here,
    know_peaks,
    local_judge,
    open_judge,
    open_judges,
)
from regraph_kg.wiring.key import trace_key
from regraph_kg.wiring.names import audit, cascade, recorded_verdicts, vocabulary
from regraph_kg.wiring.problems import (
    beats_shipped,
    check_problem,
    chosen_problem,
    declared_problem,
    find_problem,
    first_use,
    home_of,
    is_refused,
    named_paths,
    open_adopter,
    problem_folder,
    problem_names,
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
from regraph_kg.wiring.shipped import corpus_files, corpus_folder, starter_files
from regraph_kg.wiring.stores import (
    browser_query,
    embedded_folder,
    find_embedded,
    graph_difference,
    open_backup,
    open_curator,
    open_purge,
    open_reader,
    open_store,
    start_embedded,
    stop_embedded,
    store_address,
    write_browser_pack,
)

__all__ = [
    "DrySearch",
    "OpenSearch",
    "OpenSearches",
    "any_model",
    "audit",
    "batch_status",
    "beats_shipped",
    "browser_query",
    "cascade",
    "check_problem",
    "chosen_problem",
    "corpus_files",
    "corpus_folder",
    "declared_problem",
    "embedded_folder",
    "embedder",
    "find_embedded",
    "find_problem",
    "first_use",
    "graph_difference",
    "home_of",
    "is_refused",
    "judged_here",
    "know_peaks",
    "language_model",
    "local_judge",
    "named_paths",
    "open_adopter",
    "open_backup",
    "open_curator",
    "open_dry_search",
    "open_judge",
    "open_judges",
    "open_purge",
    "open_reader",
    "open_search",
    "open_searches",
    "open_store",
    "problem_folder",
    "problem_names",
    "recorded_verdicts",
    "start_embedded",
    "starter_files",
    "stop_embedded",
    "store_address",
    "task_of",
    "trace_key",
    "vocabulary",
    "write_browser_pack",
]
