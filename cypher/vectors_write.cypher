// Give examples their vectors.
// Parameters: rows [{source, target, vectors {example id: {property: vector}}}]. Columns: written.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE row.vectors[r.id] IS NOT NULL
SET r += row.vectors[r.id]
RETURN count(*) AS written
