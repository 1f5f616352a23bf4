// What one problem's trajectories contributed around one technique.
// Parameters: problem, technique. Columns: problem, path, measurements, failures, learner.
MATCH (t:Trajectory {problem: $problem})
WHERE $technique IN t.path
RETURN t.problem AS problem, t.path AS path, t.measurements AS measurements,
       t.failures AS failures, t.learner AS learner
