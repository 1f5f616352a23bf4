// Failures known of one pair, one of those that say the same: with a diagnosis before without, with
// their code before without, then the newest.
// Parameters: pair (Edge id), exclude_problem (null = none), limit.
// Columns: outcome, diagnosis, code, model.
MATCH (f:Failure {pair: $pair})
WHERE $exclude_problem IS NULL OR f.problem <> $exclude_problem
WITH f
ORDER BY f.code IS NULL, coalesce(f.created, '') DESC, f.id
WITH f.outcome AS outcome, coalesce(f.diagnosis, '') AS diagnosis, collect(f)[0] AS f
ORDER BY diagnosis = '', f.code IS NULL, coalesce(f.created, '') DESC, f.id
LIMIT $limit
MATCH (t:Trajectory {id: f.trajectory})
RETURN outcome, diagnosis, coalesce(f.code, '') AS code, t.model AS model
ORDER BY diagnosis = '', f.code IS NULL, coalesce(f.created, '') DESC, f.id
