// Name at each TRANSITION the accepted transforms that reproduced it, by a replay or as an ingest
// saw; null: it is a story. Parameters: none. Columns: none.
MATCH (t:Technique)<-[:CARRIES_OUT]-(x:Transform)
WITH t, collect(x) AS known
MATCH (:Technique)-[r:TRANSITION]->(t)
WITH r, coalesce(r.applied_by, []) AS old,
     [x IN known WHERE x.accepted AND (r.id IN x.reproduces OR x.id IN r.applied_by) | x.id] AS ids
WHERE ids <> old
SET r.applied_by = CASE WHEN size(ids) > 0 THEN ids END
