// Move TRANSITIONs to the archive. The first SET takes the lock: what is copied is final.
// Parameters: rows [{source, target, pair, ids}]; a pair's in one row, which expands it once.
// Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
WHERE r.id IN row.ids
SET r.step = r.step
CREATE (a:Archived)
SET a = r {.id, .trajectory, .step, .problem, .after, .reasoning, .detail, .original_label,
           .relabel_stage, .also, .learner, .diff, .disclosed, .verified_on, .effects, .effect},
    a.before = CASE WHEN r.step = 1 THEN r.before END,
    a.source = row.source, a.target = row.target, a.pair = row.pair
DELETE r
