"""What stands for agents in the picture, behind one interface (base.py)."""
