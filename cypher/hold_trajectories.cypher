// Hold trajectories still until the end of the transaction: SET takes the lock, what is read after
// it is final. What is set has no index: Neo4j 2026 finds a node again by an indexed property that
// was set and whose node was deleted then. Parameters: ids (sorted). Columns: id (null = it was
// deleted meanwhile), problem, learner, path, measurements, failures.
UNWIND $ids AS id
MATCH (t:Trajectory {id: id})
SET t.steps = t.steps
RETURN t.id AS id, t.problem AS problem, t.learner AS learner, t.path AS path,
       t.measurements AS measurements, t.failures AS failures
