"""Who may be near whom: one file a structure, one interface (structure.py)."""
