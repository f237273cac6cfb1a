"""A crowd on disk: save files, recordings, replays."""
