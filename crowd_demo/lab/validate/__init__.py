"""`crowd-demo validate`: people held against the literature.

    validation_experiment    scenes, readings with their expected bands, a picture; experiments/ has them by subject
    walkers                  this program's models walk a scene, where a corridor may be closed to a ring; JuPedSim, PedPy
    validation               runs experiments by all walkers; makes tables, JSON, the page and its pictures of the results
"""
