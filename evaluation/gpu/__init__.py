"""Machine and GPU: facts, clocks and heat, health, profiles, compute-sanitizer."""
