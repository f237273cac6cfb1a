"""A run for others: trajectories as files that other programs read, a page that plays it, and pictures that move.

    sources        a recording, a save or a configuration -> one frame after another
    people         who is who from one frame to the next, and where in metres
    outline        the walkable area as polygons, in WKT
    formats        the writers of trajectories, one for each suffix
    tracks         positions in few bytes
    page           from a source to one HTML file: tracks, pictures, colours, and what is said about it
    pictures       from a source to pictures that move: camera, what lies over them
    animations     the writers of such pictures, one for each suffix
    notebook       a simulation in a notebook: the page, and a table
    trajectories   from a source to a file: what is asked for, whether there is room, what was written
"""
