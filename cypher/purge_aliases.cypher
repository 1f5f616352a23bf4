// Take aliases from techniques.
// Parameters: ids, labels. Columns: none.
UNWIND $ids AS id
MATCH (t:Technique {id: id})
SET t.aliases = [alias IN t.aliases WHERE NOT alias IN $labels]
