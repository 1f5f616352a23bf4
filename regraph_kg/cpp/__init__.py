"""C++, OpenMP and CUDA text read: functions, loops, facts, and what proves loops independent."""
