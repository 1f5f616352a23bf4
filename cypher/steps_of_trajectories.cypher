// The steps of the trajectories from one id to another, archived ones too; those have a `before`
// at their first step only.
// An example's id is its trajectory's, a slash (the character before 0) and its number.
// Parameters: first, last. Columns: trajectory, step, technique, before, after, reasoning, detail,
// label, stage, diff, also; in no order.
MATCH (:Technique)-[r:TRANSITION]->(d:Technique)
WHERE r.id >= $first + '/' AND r.id < $last + '0'
RETURN r.trajectory AS trajectory, r.step AS step, d.id AS technique, r.before AS before,
       r.after AS after, r.reasoning AS reasoning, r.detail AS detail, r.original_label AS label,
       r.relabel_stage AS stage, r.diff AS diff, r.also AS also
UNION ALL
MATCH (a:Archived)
WHERE a.id >= $first + '/' AND a.id < $last + '0'
RETURN a.trajectory AS trajectory, a.step AS step, a.target AS technique, a.before AS before,
       a.after AS after, a.reasoning AS reasoning, a.detail AS detail, a.original_label AS label,
       a.relabel_stage AS stage, a.diff AS diff, a.also AS also
