// Take aliases from techniques.
// Parameters: rows [{id, label}]. Columns: none.
UNWIND $rows AS row
MATCH (t:Technique {id: row.id})
SET t.aliases = [alias IN t.aliases WHERE alias <> row.label]
