// The marks that decide which archived examples of a pair come back.
// Parameters: rows [{id, source, target}].
// Columns: pair, marks [[id, problem, verified_on, effects, learner]].
UNWIND $rows AS row
MATCH (a:Archived {pair: row.id})
RETURN row.id AS pair, collect([a.id, a.problem, a.verified_on, a.effects, a.learner]) AS marks
