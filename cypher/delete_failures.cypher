// Delete (:Failure) nodes.
// Parameters: ids. Columns: none.
UNWIND $ids AS id
MATCH (f:Failure {id: id})
DELETE f
