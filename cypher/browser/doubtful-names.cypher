// 11 Doubtful names
// Labels of models that a rule or a model took for a technique, the least certain first.
// (What became a technique of its own is not among them: query 08 says "new: needs review".)
// Parameters: none
// Columns: label, taken for, margin (of the score over that of the runner-up), by (stage), score, runner-up, its score
MATCH (r:Decision {kind: 'relabel'})
WHERE r.runner_up IS NOT NULL AND r.stage <> 'new'
RETURN r.label AS label,
       r.technique AS `taken for`,
       round(r.score - r.runner_up_score, 3) AS margin,
       r.stage AS by,
       round(r.score, 3) AS score,
       r.runner_up AS `runner-up`,
       round(r.runner_up_score, 3) AS `its score`
ORDER BY margin, label, `taken for`
LIMIT 50
