"""For plugins of before 0.3: agents that observe only positions. Elsewhere `observes` (interaction/observed.py) says it."""

from __future__ import annotations

from crowd_demo.sim.interaction.pairwise import observes

sees_positions = observes("x", "y")
