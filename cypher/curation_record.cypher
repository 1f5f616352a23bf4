// One curation's change.
// Parameters: id. Columns: change (JSON text), moves, stays (packed places).
MATCH (d:Decision {id: $id})
RETURN d.change AS change, d.moves AS moves, d.stays AS stays
