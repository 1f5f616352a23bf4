"""The judge's side of a worker: its process, its shared memory, what is said and when."""
