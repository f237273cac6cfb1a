"""The user's hand: tools for the mouse, undo and redo, and saving what was painted as a scenario."""
