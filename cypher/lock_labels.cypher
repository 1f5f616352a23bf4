// Hold entries of the relabelling's log still until the end of the transaction.
// Parameters: ids (sorted). Columns: none.
UNWIND $ids AS id
MATCH (d:Decision {id: id})
SET d.locked = true
REMOVE d.locked
