// Delete some nodes that graphs of schema 2 had beside the facts.
// Parameters: limit. Columns: deleted.
MATCH (n)
WHERE n:Share OR n:Edge OR n:FreeRun OR n:Decision
WITH n LIMIT $limit
DELETE n
RETURN count(*) AS deleted
