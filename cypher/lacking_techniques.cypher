// Known techniques that lack an alias which no curator took from them, or, in older graphs, when
// they hurt, their family, what they need, what makes them pointless, what they leave or how they
// are done. Parameters: techniques [{id, aliases, family, needs, pointless, leaves, recipe, steps}].
// Columns: id.
UNWIND $techniques AS row
MATCH (t:Technique {id: row.id})
WHERE t.hurts IS NULL
   OR t.family IS NULL AND row.family IS NOT NULL
   OR size(coalesce(t.needs, [])) = 0 AND size(row.needs) > 0
   OR size(coalesce(t.pointless, [])) = 0 AND size(row.pointless) > 0
   OR size(coalesce(t.leaves, [])) = 0 AND size(row.leaves) > 0
   OR coalesce(t.recipe, '') = '' AND row.recipe <> ''
   OR size(coalesce(t.steps, [])) = 0 AND size(row.steps) > 0
   OR any(alias IN row.aliases WHERE NOT alias IN t.aliases AND NOT alias IN coalesce(t.disowned, []))
RETURN DISTINCT t.id AS id
