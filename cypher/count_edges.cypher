// Every Edge's count, beside the number of TRANSITIONs.
// Parameters: none. Columns: id, kept, transitions.
MATCH (e:Edge)
WITH e, split(e.id, ' ') AS ends
OPTIONAL MATCH (:Technique {id: ends[0]})-[r:TRANSITION]->(:Technique {id: ends[1]})
RETURN e.id AS id, e.kept AS kept, count(r) AS transitions
ORDER BY id
