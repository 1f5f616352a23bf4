// Hold the graph's stamp until the end of the transaction: one curation is at work at a time, or a
// batch that curations kept from its end, or one change of which vectors the graph holds.
// Parameters: none. Columns: none.
MATCH (m:Meta)
SET m.product = m.product
