"""Kernels and whole configurations made ready while the window responds: ahead of the first frame, for a switch, beside it."""
