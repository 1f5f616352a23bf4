// The steps of the trajectories from one id to another.
// Parameters: first, last. Columns: trajectory, technique, before, after, reasoning, detail, label;
// ordered by trajectory and step.
MATCH (:Technique)-[r:TRANSITION]->(d:Technique)
WHERE r.trajectory >= $first AND r.trajectory <= $last
RETURN r.trajectory AS trajectory, d.id AS technique, r.before AS before, r.after AS after,
       r.reasoning AS reasoning, r.detail AS detail, r.original_label AS label
ORDER BY r.trajectory, r.step
