// Delete problems' statistics that count nothing any more. They are emptied first, by another
// transaction: a reader that misses one would take what it still finds in NEXT for other problems'.
// Parameters: none. Columns: none.
MATCH (s:Share)
WHERE coalesce(s.examples, 0) = 0 AND coalesce(s.tried, 0) = 0 AND coalesce(s.declined, 0) = 0
WITH s ORDER BY s.id
SET s.locked = true
REMOVE s.locked
WITH s
WHERE coalesce(s.examples, 0) = 0 AND coalesce(s.tried, 0) = 0 AND coalesce(s.declined, 0) = 0
DELETE s
