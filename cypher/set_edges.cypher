// After a choice: how many TRANSITIONs pairs have.
// Parameters: rows [{id, kept}]. Columns: none.
UNWIND $rows AS row
MATCH (e:Edge {id: row.id})
SET e.kept = row.kept
