"""How kernels are made and called: compiler, registers, generic functions, sorting, hashing. Knows no crowd."""
