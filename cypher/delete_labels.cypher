// Delete entries of the relabelling's log.
// Parameters: ids. Columns: none.
UNWIND $ids AS id
MATCH (d:Decision {id: id})
DELETE d
