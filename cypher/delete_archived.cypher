// Delete archived examples, because they are TRANSITIONs again.
// Parameters: ids. Columns: none.
UNWIND $ids AS id
MATCH (a:Archived {id: id})
DELETE a
