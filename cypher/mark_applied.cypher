// Name at each TRANSITION the accepted transforms that reproduced it; empty: it is a story.
// Parameters: none. Columns: none.
MATCH (x:Transform)
WHERE x.accepted
UNWIND x.reproduces AS example
WITH example, collect(x.id) AS ids
MATCH (:Technique)-[r:TRANSITION {id: example}]->(:Technique)
SET r.applied_by = ids
