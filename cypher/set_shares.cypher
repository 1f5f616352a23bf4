// Set problems' statistics, whatever they were.
// Parameters: rows [properties; see backends/shares.py], sorted by id. Columns: none.
UNWIND $rows AS row
MERGE (s:Share {id: row.id})
SET s = row
