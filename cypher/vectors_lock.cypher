// Let nobody else change which vectors the graph holds, until the end of this transaction.
// Parameters: none. Columns: none.
MATCH (m:Meta)
SET m.product = m.product
