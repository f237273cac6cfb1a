"""The crowd: its state (`world`), what a step does (stages), and `Simulation`, which holds both. Knows no pictures."""
