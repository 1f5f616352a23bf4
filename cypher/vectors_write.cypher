// Give examples their vectors, holding the lock of their pair: nothing moves meanwhile.
// Parameters: rows [{source, target, pair, vectors {example id: {slot: vector}}}], sorted by pair.
// Columns: written.
UNWIND $rows AS row
MATCH (e:Edge {id: row.pair})
SET e.locked = true
REMOVE e.locked
WITH row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE row.vectors[r.id] IS NOT NULL
SET r += row.vectors[r.id]
RETURN count(*) AS written
