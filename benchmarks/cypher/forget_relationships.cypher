// Delete some of what connects techniques. Parameters: limit. Columns: deleted.
MATCH (:Technique)-[r]->(:Technique)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS deleted
