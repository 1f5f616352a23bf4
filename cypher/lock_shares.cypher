// Lock all problems' statistics of some pairs until the end of the transaction.
// Parameters: pairs (sorted). Columns: none.
UNWIND $pairs AS pair
MATCH (s:Share {pair: pair})
WITH s ORDER BY s.id
SET s.locked = true
REMOVE s.locked
