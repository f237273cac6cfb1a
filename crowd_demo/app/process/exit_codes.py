"""How the process ends: the codes of every command."""

FINE = 0
FAILED = 1  # a crash (one line, the traceback goes to a file), output that cannot be written, or a comparison that failed
MISTAKEN = 2  # usage or configuration
NO_DISPLAY = 3
INTERRUPTED = 130  # by Ctrl-C; 128 + n by signal n
