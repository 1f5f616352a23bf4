// After a choice: how many TRANSITIONs pairs have, and what their archives hold.
// Parameters: rows [{id, kept, floors (null = nothing archived)}]. Columns: none.
UNWIND $rows AS row
MATCH (e:Edge {id: row.id})
SET e.kept = row.kept, e.floors = row.floors
