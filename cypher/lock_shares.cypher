// Hold what problems have in the statistics of some pairs still until the end of the transaction.
// Parameters: pairs (sorted). Columns: none.
UNWIND $pairs AS pair
MATCH (s:Share {pair: pair})
WITH s ORDER BY s.id
SET s.locked = true
REMOVE s.locked
