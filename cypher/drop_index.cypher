// An index that a killed client left behind: the constraint that it was made for never came.
// Parameters: name. Columns: none.
DROP INDEX $name IF EXISTS
