// Delete TRANSITIONs. All are found first: the embedded store misses some that it finds while it
// deletes others.
// Parameters: rows [{source, target, ids}]; a pair's in one row, which expands it once. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE r.id IN row.ids
WITH collect(r) AS found
UNWIND found AS r
DELETE r
