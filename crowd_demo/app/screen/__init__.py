"""The window, and what a user sees and prefers there: panels, notices, preferences."""
