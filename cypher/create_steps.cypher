// The texts of new trajectories' steps.
// Parameters: rows [properties; see backends/evidence.py]. Columns: none.
UNWIND $rows AS row
CREATE (s:Steps)
SET s = row
