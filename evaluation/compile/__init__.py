"""From source text to a shared object: compilers found, confined, their work cached."""
