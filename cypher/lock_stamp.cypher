// Hold the graph's stamp until the end of the transaction: one change of which vectors the graph
// holds is at work at a time.
// Parameters: none. Columns: none.
MATCH (m:Meta)
SET m.product = m.product
