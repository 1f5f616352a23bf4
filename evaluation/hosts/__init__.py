"""Many candidates at once: processes of one host."""
