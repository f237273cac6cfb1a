"""The window, and what a user sees and prefers there: looks, notices, preferences."""
