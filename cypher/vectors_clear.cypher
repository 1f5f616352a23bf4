// Take vectors out of some examples.
// Parameters: limit. Columns: cleared.
MATCH (:Technique)-[r:TRANSITION]->(:Technique)
WHERE r.embedding IS NOT NULL OR r.code_embedding IS NOT NULL
WITH r LIMIT $limit
SET r.embedding = null, r.code_embedding = null
RETURN count(*) AS cleared
