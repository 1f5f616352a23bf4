// Move archived examples to another pair.
// Parameters: rows [{id, to_source, to_target, pair}]. Columns: moved.
UNWIND $rows AS row
MATCH (a:Archived {id: row.id})
SET a.source = row.to_source, a.target = row.to_target, a.pair = row.pair
RETURN count(*) AS moved
