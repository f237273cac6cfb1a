"""All commands but `run` and `replay`; importing one imports neither NumPy nor Numba."""
