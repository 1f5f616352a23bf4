// Bring archived examples up to date with their latest measurement; a null removes its property.
// Not the id, not even the same one: Neo4j 2026 would refuse it to a later node of the transaction.
// Parameters: rows [{id, verified_on, effects, effect}].
// Columns: id, source, target, problem, learner, verified_on, effects.
UNWIND $rows AS row
MATCH (a:Archived {id: row.id})
SET a.verified_on = row.verified_on, a.effects = row.effects, a.effect = row.effect
RETURN a.id AS id, a.source AS source, a.target AS target, a.problem AS problem,
       a.learner AS learner, a.verified_on AS verified_on, a.effects AS effects
