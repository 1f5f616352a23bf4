// Move TRANSITIONs to another pair.
// Parameters: rows [{id, source, target, to_source, to_target}], sorted by pair. Columns: moved.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION {id: row.id}]->(:Technique {id: row.target})
MATCH (s:Technique {id: row.to_source}), (d:Technique {id: row.to_target})
WITH s, d, r, properties(r) AS example
DELETE r
WITH s, d, example
CREATE (s)-[n:TRANSITION]->(d)
SET n = example
RETURN count(*) AS moved
