// Lock known trajectories until the end of the transaction, then read what they hold now.
// Parameters: ids, sorted. Columns: id, path, measurements, failures.
UNWIND $ids AS id
MATCH (t:Trajectory {id: id})
SET t.locked = true
WITH t
REMOVE t.locked
RETURN t.id AS id, t.path AS path, t.measurements AS measurements, t.failures AS failures
