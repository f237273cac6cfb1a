"""Neighbour structures: who may be near whom, behind one interface (structure.py)."""
