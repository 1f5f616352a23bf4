// 07 Provenance
// Who wrote an example, what its name was taken for, its verdict, its code: a sheet of facts.
// Parameters: example (query 05 shows ids)
// :param example => '...'
// Columns: fact, value
WITH split($example, '/') AS place
MATCH (t:Trajectory {id: place[0]})
MATCH (k:Steps {id: t.id})
WITH t, k, toInteger(place[1]) AS step
MATCH (source:Technique {id: t.path[step - 1]})
MATCH (technique:Technique {id: t.path[step]})
MATCH (source)-[x:TRANSITION {id: $example}]->(technique)
UNWIND [
  ['step', source.name + ' -> ' + technique.name],
  ['problem', t.problem],
  ['written by', t.model],
  ['in its words', k.labels[step - 1]],
  ['taken for', technique.id + ' (' + k.stages[step - 1] + ')'],
  ['verdict', x.outcome + ' on ' + x.device],
  ['verified on', substring(reduce(text = '', d IN x.verified_on | text + ', ' + d), 2)],
  ['times faster than before', toString(round(x.effect, 2))],
  ['times faster than serial', toString(round(x.speedup, 2))],
  ['toolchain', x.toolchain],
  ['why', k.reasonings[step - 1]],
  ['how', k.details[step - 1]],
  ['code before', CASE step WHEN 1 THEN k.serial ELSE k.codes[step - 2] END],
  ['code after', k.codes[step - 1]],
  ['trajectory', t.ref + ', step ' + toString(step) + ' of ' + toString(t.steps)],
  ['its path', substring(reduce(text = '', id IN t.path | text + ' -> ' + id), 4)],
  ['run', t.run],
  ['written at', t.created],
  ['prompt', t.prompt_hash],
  ['licence', t.licence],
  ['its id', $example],
  ['measurements', replace(x.measurements, '},{', '},\n{')]
] AS line
WITH line
WHERE line[1] <> ''
RETURN line[0] AS fact, line[1] AS value
