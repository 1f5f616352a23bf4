// Delete some of what follows from trajectories: a rebuild makes it again.
// Parameters: limit. Columns: deleted.
MATCH (:Technique)-[r:TRANSITION|NEXT]->(:Technique)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS deleted
