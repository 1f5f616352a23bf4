// Delete some of what was ingested. Techniques and (:Meta) stay.
// Parameters: limit. Columns: deleted.
MATCH (n)
WHERE NOT n:Technique AND NOT n:Meta
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted
