// Mark a graph as being restored from a backup, and give it that one's bound.
// Parameters: backup (its digest), bound. Columns: none.
MATCH (m:Meta)
SET m.restoring = $backup, m.bound = $bound
