// The best effects of problems' statistics, where one is not what it was; a null removes it.
// Parameters: rows [{id, best_effect}]. Columns: none.
UNWIND $rows AS row
MATCH (s:Share {id: row.id})
SET s.best_effect = row.best_effect
