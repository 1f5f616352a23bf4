// How many steps have their texts, for the trajectories from one id to another.
// Parameters: first, last. Columns: id, steps.
MATCH (s:Steps)
WHERE s.id >= $first AND s.id <= $last
RETURN s.id AS id, size(s.codes) AS steps
