"""Contract: what a model declined or left unchanged is no try, and no failure."""

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.evaluation import Outcome
from tests.contract.plans import H200, failure, measured, plan
from tests.recount import wrong_counts

pytestmark = pytest.mark.neo4j("slow")


@pytest.mark.parametrize("outcome", [Outcome.DECLINED, Outcome.UNCHANGED])
def test_what_nobody_tried_counts_nowhere(store: GraphStore, outcome: Outcome) -> None:
    failures = [failure("b", outcome=outcome, diagnosis=why) for why in ("nothing to tile", "no")]
    store.merge([plan("ab", measurements=[measured()], failures=failures)])
    (found,) = store.neighbourhood("cuda/a", device=H200).successors
    assert (found.here.tried, found.here.right) == (1, 1)
    assert wrong_counts(store) == []
