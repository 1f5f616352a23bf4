"""The starter: vocabulary, problems, trajectories, recorded answers; read by wiring/shipped.py."""
