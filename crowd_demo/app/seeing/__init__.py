"""What helps to see: overlays, the inspector."""
