"""`crowd-demo validate`: people held against the literature.

    validation_experiment    scenes, readings with their expected ranges, a picture; experiments/ has them by subject
    walkers                  this program's models walk a scene, where a corridor may be closed to a ring; PedPy
    jupedsim_walk            models of JuPedSim walk it
    validation               runs experiments by all walkers, with all seeds, several scenes at a time
    page                     tables, JSON, the page and its pictures of the results
"""
