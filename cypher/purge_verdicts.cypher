// The log of ingests' decisions on labels.
// Parameters: none. Columns: id, technique, label.
MATCH (d:Decision)
WHERE d.id STARTS WITH 'relabel '
RETURN d.id AS id, d.technique AS technique, d.label AS label
