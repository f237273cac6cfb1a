"""`crowd-demo validate`: people held against the literature.

    scene        who walks where, in metres; placing, where they begin
    walkers      who can walk a scene: crowd_walk, this program's models (loop closes a corridor to a ring); jupedsim_walk
    experiment   what an experiment is: scenes, readings with their expected bands, a picture; experiments/ has one a file
    by_pedpy     the same measures, by PedPy
    validation   runs experiments by all walkers; report makes tables and JSON of that, page the Markdown, plots the pictures
"""
