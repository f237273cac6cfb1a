"""A crowd on disk and its past: save files, recordings, replays, going back in time."""
