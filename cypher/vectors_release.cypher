// Give up what is claimed of pairs.
// Parameters: pairs [id], sorted, owner. Columns: none.
UNWIND $pairs AS pair
MATCH (e:Edge {id: pair})
WHERE e.claimed_by = $owner
REMOVE e.claimed_by, e.claimed_until
