"""The graph stores: Neo4j and the embedded store, both spoken to over Bolt."""
