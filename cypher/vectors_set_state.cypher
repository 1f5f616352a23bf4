// Change which vectors the graph holds.
// Parameters: state {property of Meta: value}. Columns: none.
MATCH (m:Meta)
SET m += $state
