// Trajectories that have a step or a failure of one of these techniques.
// Parameters: targets, ids, quoted (the ids in double quotes, as JSON has them). Columns: id.
MATCH (t:Trajectory)
WHERE t.target IN $targets
  AND (any(id IN t.path WHERE id IN $ids) OR any(text IN $quoted WHERE t.failures CONTAINS text))
RETURN t.id AS id
ORDER BY id
