// The labels of the steps to some techniques, those that most of the best examples have first.
// Parameters: ids, most (labels of each). Columns: technique, labels.
UNWIND $ids AS id
CALL (id) {
  MATCH (:Technique)-[r:TRANSITION]->(:Technique {id: id})
  WITH r.original_label AS label, count(*) AS times
  ORDER BY times DESC, label
  LIMIT $most
  RETURN collect(label) AS labels
}
RETURN id AS technique, labels
