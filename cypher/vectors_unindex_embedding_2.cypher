// Take the index over `embedding_2` away.
// Parameters: none. Columns: none.
DROP INDEX transition_embedding_2 IF EXISTS
