"""The picture: what of a simulation is seen, and how it is drawn. Nothing here changes the crowd."""
