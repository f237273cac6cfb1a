"""What is drawn over the picture; base.py says what an overlay gets."""
