// 11 Doubtful names
// Labels of models that a rule or a model took for a technique, the least certain first.
// Parameters: none
// Columns: label, target, taken for, by (stage), score, runner-up, its score, margin
MATCH (r:Decision {kind: 'relabel'})
WHERE r.runner_up IS NOT NULL
RETURN r.label AS label,
       r.target AS target,
       r.technique AS `taken for`,
       r.stage AS by,
       round(r.score, 3) AS score,
       r.runner_up AS `runner-up`,
       round(r.runner_up_score, 3) AS `its score`,
       round(r.score - r.runner_up_score, 3) AS margin
ORDER BY margin, label, target
LIMIT 50
