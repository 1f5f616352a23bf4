"""Whether a technique fits a code, and which one a step applied: predicates over facts."""
