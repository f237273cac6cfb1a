"""The command line: arguments in, an exit code out, and one line for each mistake of the user.

    main, commands    which command there is, and which one is meant
    arguments, exits  what the commands share
    run, replay       the program
    sweep, ablate, largest, flocks, motion, layout, memory, validate    what is measured
    ensemble          many runs

Modules that take long to import (pygame, Numba, NumPy) are imported where they are needed, so what only prints starts at once.
"""

from crowd_demo.cli.main import command, main

__all__ = ["command", "main"]
