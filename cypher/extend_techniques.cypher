// Teach techniques aliases, but none that a curator took from them. Older graphs' techniques are
// told when they hurt, and their family.
// Parameters: techniques [{id, aliases, hurts, family}], sorted by id. Columns: none.
UNWIND $techniques AS row
MATCH (t:Technique {id: row.id})
SET t.hurts = coalesce(t.hurts, row.hurts),
    t.family = coalesce(t.family, row.family),
    t.aliases = t.aliases + [alias IN row.aliases WHERE NOT alias IN t.aliases
                             AND NOT alias IN coalesce(t.disowned, [])]
