"""Serial code as a CUDA program that works: where a search on a GPU begins."""
