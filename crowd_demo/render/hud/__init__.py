"""The HUD: numbers, graphs and switches over the picture, and the help screen."""
