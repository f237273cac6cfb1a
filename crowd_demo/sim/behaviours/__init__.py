"""How agents move: one file for each behaviour, one interface (base.py)."""
