"""`crowd-demo validate`: people held against the literature.

    walk_scene               who walks where, in metres: where people begin, and the scene as a map of tiles
    walkers                  this program's models walk a scene, where a corridor may be closed to a ring; JuPedSim, PedPy
    validation_experiment    scenes, readings with their expected bands, a picture; experiments/ has them by subject
    validation               runs experiments by all walkers; results makes tables, JSON, the page and its pictures
"""
