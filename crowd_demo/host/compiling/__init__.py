"""Kernels that are compiled before they are needed: which are missing, and the processes that compile them."""
