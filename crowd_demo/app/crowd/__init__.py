"""The crowd that is shown, and what is done to it: changes, time, techniques, files."""
