"""Experiments in the window: while one runs, the crowd on the screen stands still."""
