"""How fast: batches of calls, when there are enough, intervals, and the device's roof."""
