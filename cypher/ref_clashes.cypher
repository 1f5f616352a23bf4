// Trajectories whose ref already names other content.
// Parameters: rows [{id, ref}]. Columns: id, ref, other (the id that has the ref).
UNWIND $rows AS row
MATCH (t:Trajectory {ref: row.ref})
WHERE t.id <> row.id
RETURN row.id AS id, row.ref AS ref, t.id AS other
