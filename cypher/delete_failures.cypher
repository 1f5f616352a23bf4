// Delete the (:Failure) nodes of pairs that no trajectory knows there.
// Parameters: pairs (Edge ids), keep (Failure ids). Columns: none.
UNWIND $pairs AS pair
MATCH (f:Failure {pair: pair})
WHERE NOT f.id IN $keep
DELETE f
