// Which (:Failure) nodes hang at pairs.
// Parameters: pairs (Edge ids). Columns: id.
UNWIND $pairs AS pair
MATCH (f:Failure {pair: pair})
RETURN f.id AS id
