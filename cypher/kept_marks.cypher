// What decides which TRANSITIONs of a pair stay.
// Parameters: rows [{id, source, target}].
// Columns: pair, marks [[id, problem, verified_on, effect, learner]].
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
RETURN row.id AS pair, collect([r.id, r.problem, r.verified_on, r.effect, r.learner]) AS marks
