// Hold the graph's stamp until the end of the transaction: one change at a
// time of which vectors the graph holds.
// Parameters: none. Columns: none.
MATCH (m:Meta)
SET m.product = m.product
