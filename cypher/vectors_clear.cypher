// Take the vectors of pairs out of `slot`, holding the lock of their pair.
// Parameters: rows [{source, target, pair}], sorted by pair; slot; nothing {slot: null}.
// Columns: cleared.
UNWIND $rows AS row
MATCH (e:Edge {id: row.pair})
SET e.locked = true
REMOVE e.locked
WITH row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE r[$slot] IS NOT NULL
SET r += $nothing
RETURN count(*) AS cleared
