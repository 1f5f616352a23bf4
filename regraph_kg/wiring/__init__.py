"""From settings to parts: only this package names concrete stores, models and judges.

A caller imports from a module of it, and only from those that it needs: the judge alone must not
load a database driver.
"""
