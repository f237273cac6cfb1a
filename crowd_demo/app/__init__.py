"""The program: the window's loop, input, loading, switching of techniques, reports."""
