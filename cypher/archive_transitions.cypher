// Move TRANSITIONs to the archive. The first SET takes the lock: what is copied is final.
// Parameters: rows [{source, target, pair, ids}]; a pair's in one row, which expands it once;
// without {property that is not kept: null}. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE r.id IN row.ids
SET r.step = r.step
CREATE (a:Archived)
SET a = properties(r)
SET a += $without
SET a.before = CASE WHEN r.step = 1 THEN r.before END,
    a.source = row.source, a.target = row.target, a.pair = row.pair
DELETE r
