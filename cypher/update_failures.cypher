// Put (:Failure) nodes where their trajectories say; code that was kept stays.
// Parameters: rows [properties without code], sorted by id. Columns: none.
UNWIND $rows AS row
MERGE (f:Failure {id: row.id})
SET f += row
