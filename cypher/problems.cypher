// Every problem that the graph tells of.
// Parameters: none. Columns: problem, trajectories.
CALL {
  MATCH (t:Trajectory) RETURN t.problem AS problem, 1 AS one
  UNION ALL
  MATCH (s:Share) RETURN DISTINCT s.problem AS problem, 0 AS one
}
RETURN problem, sum(one) AS trajectories
ORDER BY problem
