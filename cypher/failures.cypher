// Failures known of one pair, one of those that say the same of one problem: with a diagnosis before
// without, with their code before without, then the newest. Answers without code are none of a pair,
// and what was declined or left unchanged was not tried.
// Parameters: pair (Edge id), limit.
// Columns: outcome, diagnosis, problem, code, model, before (the code).
MATCH (f:Failure {pair: $pair})
WHERE NOT f.outcome IN ['parse_failed', 'declined', 'unchanged']
WITH f
ORDER BY f.code IS NULL, coalesce(f.created, '') DESC, f.id
WITH f.outcome AS outcome, coalesce(f.diagnosis, '') AS diagnosis, f.problem AS problem,
     collect(f)[0] AS f
ORDER BY diagnosis = '', f.code IS NULL, coalesce(f.created, '') DESC, f.id
LIMIT $limit
MATCH (t:Trajectory {id: f.trajectory})
MATCH (s:Steps {id: f.trajectory})
RETURN outcome, diagnosis, problem, coalesce(f.code, '') AS code, t.model AS model,
       CASE WHEN f.after_step = 0 THEN s.serial ELSE s.codes[f.after_step - 1] END AS before
ORDER BY diagnosis = '', f.code IS NULL, coalesce(f.created, '') DESC, f.id
