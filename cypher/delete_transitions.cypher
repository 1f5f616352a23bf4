// Delete TRANSITIONs.
// Parameters: rows [{source, target, ids}]; a pair's in one row, which expands it once. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE r.id IN row.ids
DELETE r
