"""The interaction: what behaviours define (pairwise.py, nearest.py), and a file for each form of candidates."""
