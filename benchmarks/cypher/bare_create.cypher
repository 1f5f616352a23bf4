// The same payload on nodes of their own: no constraint, no lookup, no statistics.
// Parameters: rows [properties]. Columns: written.
UNWIND $rows AS row
CREATE (b:Bare)
SET b = row
RETURN count(*) AS written
