// Hold techniques still until the end of the transaction, and let one curation at a time be at work:
// the first SET takes the lock of the graph's stamp.
// Parameters: ids (sorted). Columns: none.
MATCH (m:Meta)
SET m.product = m.product
WITH m
UNWIND $ids AS id
MATCH (t:Technique {id: id})
SET t.id = t.id
