"""From events to commands: keyboard, mouse, and what an action of the key bindings does."""
