// Which examples of these pairs are TRANSITIONs.
// Parameters: pairs [{source, target}]. Columns: id.
UNWIND $pairs AS pair
MATCH (:Technique {id: pair.source})-[r:TRANSITION]->(:Technique {id: pair.target})
RETURN r.id AS id
