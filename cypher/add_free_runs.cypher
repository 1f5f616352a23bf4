// Store results of searches' free steps; a known run is replaced.
// Parameters: rows [properties], sorted by id. Columns: none.
UNWIND $rows AS row
MERGE (f:FreeRun {id: row.id})
SET f = row
