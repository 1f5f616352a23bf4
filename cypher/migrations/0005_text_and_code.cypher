// Text and code of examples are embedded apart: what was embedded before is forgotten.
// Version 5. Statements end with a semicolon; each may run again. Parameters: none. Columns: none.
MATCH (m:Meta) REMOVE m.embedding_model, m.dimension, m.embedding_slot, m.next_model, m.next_dimension;
