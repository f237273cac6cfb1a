"""What stands for agents in the picture: one file for each kind, one interface (base.py)."""
