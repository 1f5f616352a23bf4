// The curators' log, without the steps that were moved.
// Parameters: none. Columns: entry (map), token (of the call that made it).
MATCH (d:Decision)
WHERE d.id STARTS WITH 'curation '
RETURN {id: d.id, number: d.number, kind: d.kind, who: d.who, why: d.why, created: d.created,
        summary: d.summary, techniques: d.techniques, labels: d.labels, examples: d.examples,
        failures: d.failures, undoes: d.undoes} AS entry,
       d.token AS token
ORDER BY d.number
