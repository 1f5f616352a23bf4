// Create those of a problem's statistics that are unknown; what the known ones hold. REMOVE locks a
// node that was known, too: what is returned holds until the transaction ends.
// Parameters: rows [properties; see backends/shares.py], sorted by id. Columns: share (map; known).
UNWIND $rows AS row
MERGE (s:Share {id: row.id})
  ON CREATE SET s += row, s.new = true
WITH s, s.new IS NOT NULL AS new
REMOVE s.new
WITH s, new
WHERE NOT new
RETURN properties(s) AS share
