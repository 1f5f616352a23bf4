// Write one entry of the curators' log.
// Parameters: entry (properties). Columns: none.
CREATE (d:Decision)
SET d = $entry
