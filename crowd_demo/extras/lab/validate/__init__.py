"""`crowd-demo validate`: people held against the literature.

    validation_experiment    scenes, readings with their expected ranges, a picture; experiments/ has them by subject
    walkers                  this program's models walk a scene, where a corridor may be closed to a ring; PedPy
    jupedsim_walk            models of JuPedSim walk it
    walks                    in this process, or several scenes at a time in others
    validation               runs experiments by all walkers, with all seeds
    page                     tables, JSON, the page and its pictures of the results
"""
