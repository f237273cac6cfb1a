"""The command line: arguments in, an exit code out, and one line for each mistake of the user.

    main         which command is meant, and how it ends
    arguments    which commands there are, and what they share
    run          the program, and replays of recorded runs

The other commands are in extras/commands.

Modules that take long to import (pygame, Numba, NumPy) are imported where they are needed, so what only prints starts
at once.
"""

from crowd_demo.cli.main import command, main

__all__ = ["command", "main"]
