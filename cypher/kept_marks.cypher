// The marks that decide which TRANSITIONs of a pair stay.
// Parameters: rows [{id, source, target}].
// Columns: pair, marks [[id, problem, verified_on, effects, learner]].
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(:Technique {id: row.target})
RETURN row.id AS pair, collect([r.id, r.problem, r.verified_on, r.effects, r.learner]) AS marks
