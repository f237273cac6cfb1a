"""What helps to see: overlays, the inspector, two crowds side by side."""
