from regraph_kg.graph import GraphStore
def test_x(store: GraphStore) -> None:
    assert store.stats().trajectories == 0
def test_y(store: GraphStore) -> None:
    assert store.stats().trajectories == 0
