"""What is measured about a crowd between two steps; readings.py lists the meters."""
