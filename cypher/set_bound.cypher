// How many examples of a pair stay TRANSITIONs.
// Parameters: bound. Columns: none.
MATCH (m:Meta)
SET m.bound = $bound
