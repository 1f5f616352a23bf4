// Hold trajectories still until the end of the transaction: SET takes the lock, what is read after
// it is final. Parameters: ids (sorted). Columns: id (null = it was deleted
// meanwhile), problem, path, failures.
UNWIND $ids AS id
MATCH (t:Trajectory {id: id})
SET t.id = t.id
RETURN t.id AS id, t.problem AS problem, t.path AS path, t.failures AS failures
