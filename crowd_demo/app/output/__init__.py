"""What the program writes: files that are complete or not there, pictures, reports, times, the screen as a command."""
