"""The program in a window: a run (main), its frames (loop), its state (program), and rooms for its parts."""
