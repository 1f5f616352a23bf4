// Take the index over `embedding` away.
// Parameters: none. Columns: none.
DROP INDEX transition_embedding IF EXISTS
