"""Settings -> parts: the only place that names concrete stores, models and judges."""
