"""Keys: what they are called on any layout, what they are bound to, which are held."""
