// Change the graph's settings and state.
// Parameters: state {property of Meta: value}. Columns: none.
MATCH (m:Meta)
SET m += $state
