"""What helps to see: overlays."""
