"""The HUD: numbers, graphs and switches over the picture, and what is open over it."""
