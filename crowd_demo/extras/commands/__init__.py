"""The commands of the extras; importing one imports neither NumPy nor Numba."""
