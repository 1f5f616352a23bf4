// Claim pairs, whose locks are held, for so many milliseconds by the server's clock.
// Parameters: pairs [id], owner, milliseconds. Columns: none.
UNWIND $pairs AS pair
MATCH (e:Edge {id: pair})
SET e.claimed_by = $owner, e.claimed_until = timestamp() + $milliseconds
