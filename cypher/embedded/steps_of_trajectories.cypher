// The steps of the trajectories from one id to another, archived ones too; those have a `before`
// at their first step only. Only the store's SQL takes the index over TRANSITION.id (start.cypher
// has the function): without it, every page would read every TRANSITION.
// Parameters: first, last. Columns: trajectory, step, technique, before, after, reasoning, detail,
// label, stage, diff, also; in no order.
UNWIND regraph.steps_between($first + '/', $last + '0') AS r
RETURN r.trajectory AS trajectory, r.step AS step, r.technique AS technique, r.before AS before,
       r.after AS after, r.reasoning AS reasoning, r.detail AS detail, r.label AS label,
       r.stage AS stage, r.diff AS diff, r.also AS also
UNION ALL
MATCH (a:Archived)
WHERE a.id >= $first + '/' AND a.id < $last + '0'
RETURN a.trajectory AS trajectory, a.step AS step, a.target AS technique, a.before AS before,
       a.after AS after, a.reasoning AS reasoning, a.detail AS detail, a.original_label AS label,
       a.relabel_stage AS stage, a.diff AS diff, a.also AS also
