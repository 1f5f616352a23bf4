// Examples beyond their pair's bound.
// Parameters: rows [properties; see backends/edges.py]. Columns: none.
UNWIND $rows AS row
CREATE (a:Archived)
SET a = row
