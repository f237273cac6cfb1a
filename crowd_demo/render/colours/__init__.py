"""Colour modes: what the colours of agents mean; base.py says what a mode gives."""
