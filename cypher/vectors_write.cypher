// Give examples their vectors, where the graph's space is one of ours.
// Parameters: rows [{source, target, vectors {example id: {property: vector}}}], ours [space]. Columns: written.
MATCH (m:Meta)
WHERE m.embedding_model IN $ours
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE row.vectors[r.id] IS NOT NULL
SET r += row.vectors[r.id]
RETURN count(*) AS written
