// Hold techniques still until the end of the transaction; no NEXT can be made at them, either.
// A property of its own takes the lock: one set to its own value would be read before the lock.
// Parameters: ids (sorted). Columns: none.
UNWIND $ids AS id
MATCH (t:Technique {id: id})
SET t.locked = true
REMOVE t.locked
