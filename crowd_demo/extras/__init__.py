"""Parts that the window does not need: the lab, ensembles, export, import, playback and the GPU backend."""
