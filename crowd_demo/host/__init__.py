"""What surrounds the window and the commands: threads, child processes, streams, files, shutdown, recording."""
