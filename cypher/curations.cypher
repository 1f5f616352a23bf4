// The curators' log, without the steps that were moved.
// Parameters: none. Columns: entry (map).
MATCH (d:Decision)
WHERE d.id STARTS WITH 'curation '
RETURN {id: d.id, number: d.number, kind: d.kind, who: d.who, why: d.why, created: d.created,
        summary: d.summary, techniques: d.techniques, labels: d.labels, examples: d.examples,
        failures: d.failures, undoes: d.undoes} AS entry
ORDER BY d.number
