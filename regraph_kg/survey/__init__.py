"""What trajectories say together: gains, gaps, doubles, and what one field foretells of another."""
