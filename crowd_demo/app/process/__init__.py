"""The process: its threads, its end, its standard streams, its age and memory, and processes that it starts."""
