// Delete techniques. Not DETACH: one that a relationship still holds fails the transaction, so that
// nothing that another writer has attached meanwhile is lost.
// Parameters: ids. Columns: none.
UNWIND $ids AS id
MATCH (t:Technique {id: id})
DELETE t
