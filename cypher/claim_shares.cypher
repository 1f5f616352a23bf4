// Create problems' missing statistics, lock all of them until the end of the transaction, and read
// the known ones.
// Parameters: ids (sorted). Columns: share (map; known).
UNWIND $ids AS id
MERGE (s:Share {id: id})
SET s.locked = true
REMOVE s.locked
WITH s
WHERE s.problem IS NOT NULL
RETURN properties(s) AS share
