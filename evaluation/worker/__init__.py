"""The judge's side of a worker: its process, its shared memory, their protocol."""
