"""What is drawn over the picture, one file each; base.py says what an overlay gets."""
