"""Files of other tools: floor plans and trajectories, in metres."""
