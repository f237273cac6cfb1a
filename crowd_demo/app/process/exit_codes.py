"""How the process ends: the codes of every command, and an exception in one line."""

FINE = 0
FAILED = 1  # a crash (one line, the traceback goes to a file), output that cannot be written, or a comparison that failed
MISTAKEN = 2  # usage or configuration
NO_DISPLAY = 3
INTERRUPTED = 130  # by Ctrl-C; 128 + n by signal n


def error_line(error: BaseException) -> str:
    """Its kind and the first line of its text."""
    return " ".join([f"{type(error).__name__}:", *str(error).splitlines()[:1]]).rstrip(":")
