// Who has claimed pairs in order to embed their examples, holding the pairs' locks.
// Parameters: rows [{pair}], sorted by pair. Columns: pair, owner, live (false = none, or expired).
UNWIND $rows AS row
MATCH (e:Edge {id: row.pair})
SET e.locked = true
REMOVE e.locked
RETURN e.id AS pair, e.claimed_by AS owner, coalesce(e.claimed_until > timestamp(), false) AS live
