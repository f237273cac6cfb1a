"""Colour modes: what the colours of agents tell, one file each; base.py says what a mode gives."""
