// Known techniques that lack an alias which no curator took from them, or, in older graphs, when
// they hurt or their family. Parameters: techniques [{id, aliases, family}]. Columns: id.
UNWIND $techniques AS row
MATCH (t:Technique {id: row.id})
WHERE t.hurts IS NULL
   OR t.family IS NULL AND row.family IS NOT NULL
   OR any(alias IN row.aliases WHERE NOT alias IN t.aliases AND NOT alias IN coalesce(t.disowned, []))
RETURN DISTINCT t.id AS id
