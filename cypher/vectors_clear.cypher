// Take the vectors of pairs out of `slot`.
// Parameters: rows [{source, target, pair}], sorted by pair; slot; nothing {slot: null}.
// Columns: cleared.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE r[$slot] IS NOT NULL
SET r += $nothing
RETURN count(*) AS cleared
