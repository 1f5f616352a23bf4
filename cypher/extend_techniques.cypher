// Teach techniques aliases, but none that a curator took from them. Older graphs' techniques are
// told when they hurt, their family, what they need, what makes them pointless, what they leave and
// how they are done. Parameters: techniques [{id, aliases, hurts, family, needs, pointless, leaves,
// recipe, steps}], sorted by id. Columns: none.
UNWIND $techniques AS row
MATCH (t:Technique {id: row.id})
SET t.hurts = coalesce(t.hurts, row.hurts),
    t.family = coalesce(t.family, row.family),
    t.needs = CASE WHEN size(row.needs) = 0 OR size(coalesce(t.needs, [])) > 0 THEN t.needs
                   ELSE row.needs END,
    t.pointless = CASE WHEN size(row.pointless) = 0 OR size(coalesce(t.pointless, [])) > 0
                       THEN t.pointless ELSE row.pointless END,
    t.leaves = CASE WHEN size(row.leaves) = 0 OR size(coalesce(t.leaves, [])) > 0 THEN t.leaves
                    ELSE row.leaves END,
    t.recipe = CASE WHEN row.recipe = '' OR coalesce(t.recipe, '') <> '' THEN t.recipe
                    ELSE row.recipe END,
    t.steps = CASE WHEN size(row.steps) = 0 OR size(coalesce(t.steps, [])) > 0 THEN t.steps
                   ELSE row.steps END,
    t.aliases = t.aliases + [alias IN row.aliases WHERE NOT alias IN t.aliases
                             AND NOT alias IN coalesce(t.disowned, [])]
