// Create unknown trajectories; tell which are new, and read the known ones. REMOVE locks a known
// node, too: the returned values hold until the transaction ends.
// Parameters: rows [{id, properties}], sorted by id. Columns: id, new, problem, path, measurements,
// failures, learner, kind, transforms.
UNWIND $rows AS row
MERGE (t:Trajectory {id: row.id})
  ON CREATE SET t += row.properties, t.new = true
WITH t, t.new IS NOT NULL AS new
REMOVE t.new
RETURN t.id AS id, new, t.problem AS problem, t.path AS path, t.measurements AS measurements,
       t.failures AS failures, t.learner AS learner,
       t.kind AS kind, t.transforms AS transforms
