"""The stage *see*: what behaviours define (pairwise.py), and a file for each form of candidates."""
