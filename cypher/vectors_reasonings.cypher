// What is to be embedded: reasonings of examples without a vector in `slot`.
// Parameters: rows [{source, target}], slot. Columns: source, target, id, reasoning.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE r[$slot] IS NULL
RETURN row.source AS source, row.target AS target, r.id AS id, r.reasoning AS reasoning
ORDER BY source, target, id
