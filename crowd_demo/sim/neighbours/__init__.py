"""Neighbour structures: one file for each, one interface (structure.py)."""
