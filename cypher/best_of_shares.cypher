// Every problem's best effects on these pairs.
// Parameters: pairs. Columns: share (map).
UNWIND $pairs AS pair
MATCH (s:Share {pair: pair})
WHERE s.best_effect IS NOT NULL
RETURN s {.pair, .device, .learner, .problem, .best_effect} AS share
