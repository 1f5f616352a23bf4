"""Many candidates at once: processes of one host, hosts of a Ray cluster."""
