// Delete problems' statistics that count nothing any more.
// Parameters: ids. Columns: none.
UNWIND $ids AS id
MATCH (s:Share {id: id})
DELETE s
