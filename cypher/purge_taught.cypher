// Techniques that have one of these aliases.
// Parameters: rows [{target, label}]. Columns: id.
UNWIND $rows AS row
MATCH (t:Technique)
WHERE t.target = row.target AND row.label IN t.aliases
RETURN DISTINCT t.id AS id
