"""The process: its threads, its end, its standard streams, its memory."""
