// Let one curation at a time be at work, or a batch that curations kept from its end: the SET takes
// the lock of the graph's stamp.
// Parameters: none. Columns: none.
MATCH (m:Meta)
SET m.product = m.product
