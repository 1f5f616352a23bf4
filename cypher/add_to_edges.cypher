// Count new TRANSITIONs and kept failed code of pairs, and hold their locks until the end of the
// transaction: the first SET takes the lock, what follows is read under it.
// Parameters: rows [{id, kept, codes}], sorted by id; most_codes.
// Columns: id, kept (after), codes_before.
UNWIND $rows AS row
MERGE (e:Edge {id: row.id})
SET e.locked = true
WITH e, row, coalesce(e.codes, 0) AS codes_before
SET e.kept = coalesce(e.kept, 0) + row.kept,
    e.codes = CASE WHEN codes_before + row.codes > $most_codes THEN $most_codes
                   ELSE codes_before + row.codes END
REMOVE e.locked
RETURN e.id AS id, e.kept AS kept, codes_before
