// 07 Provenance
// Who wrote an example, what its name was taken for, its verdict, its code: a sheet of facts.
// Parameters: example (queries 05 and 10 show ids)
// :param example => '...'
// Columns: fact, value
CALL () {
  MATCH (s:Technique)-[x:TRANSITION {id: $example}]->(d:Technique)
  RETURN properties(x) AS x, s AS source, d AS technique, 'in sight' AS place
  UNION
  MATCH (a:Archived {id: $example})
  MATCH (s:Technique {id: a.source})
  MATCH (d:Technique {id: a.target})
  RETURN properties(a) AS x, s AS source, d AS technique, 'in the archive' AS place
}
MATCH (t:Trajectory {id: x.trajectory})
OPTIONAL MATCH (r:Decision {kind: 'relabel', target: t.target, label: x.original_label})
OPTIONAL MATCH ()-[seen:TRANSITION {id: x.trajectory + '/' + toString(x.step - 1)}]->()
OPTIONAL MATCH (old:Archived {id: x.trajectory + '/' + toString(x.step - 1)})
WITH x, source, technique, place, t, r, coalesce(x.before, seen.after, old.after) AS before,
     COLLECT {
       MATCH (c:Decision)
       WHERE any(id IN c.techniques WHERE id IN [source.id, technique.id])
       RETURN toString(c.number) + ' ' + c.summary + ' (' + c.who + ')' ORDER BY c.number
     } AS curations
UNWIND [
  ['step', source.name + ' -> ' + technique.name + ' (' + place + ')'],
  ['problem', x.problem],
  ['written by', t.model],
  ['in its words', x.original_label],
  ['taken for', technique.id + ' (' + x.relabel_stage + ')'],
  ['taken with score', toString(round(r.score, 3))],
  ['runner-up', r.runner_up + ' (' + toString(round(r.runner_up_score, 3)) + ')'],
  ['taken by model', r.model],
  ['curated', substring(reduce(text = '', c IN curations | text + '\n' + c), 1)],
  ['verdict', x.outcome + ' on ' + x.device],
  ['verified on', substring(reduce(text = '', d IN x.verified_on | text + ', ' + d), 2)],
  ['times faster than before', toString(round(x.effect, 2))],
  ['times faster than serial', toString(round(x.speedup, 2))],
  ['toolchain', x.toolchain],
  ['why', x.reasoning],
  ['how', x.detail],
  ['code before', before],
  ['code after', x.after],
  ['trajectory', t.ref + ', step ' + toString(x.step) + ' of ' + toString(t.steps)],
  ['its path', substring(reduce(text = '', id IN t.path | text + ' -> ' + id), 4)],
  ['run', t.run],
  ['written at', t.created],
  ['prompt', t.prompt_hash],
  ['licence', t.licence],
  ['its id', x.id],
  ['measurements', replace(coalesce(x.measurements, 'of all steps: ' + t.measurements), '},{', '},\n{')]
] AS line
WITH line
WHERE line[1] <> ''
RETURN line[0] AS fact, line[1] AS value
