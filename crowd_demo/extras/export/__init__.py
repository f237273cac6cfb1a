"""A run for others: trajectories as files that other programs read, a page that plays it, and pictures that move.

    sources        a recording, a save or a configuration -> one frame after another; who is who, and where in metres
    outline        the walkable area as polygons, in WKT
    tracks         positions in few bytes
    page           from a source to one HTML file: tracks, pictures, colours, and what is said about it; also in a notebook
    pictures       from a source to pictures that move: camera, what lies over them, and a writer for each suffix
    trajectories   from a source to a file: what is asked for, whether there is room, and a writer for each suffix
"""
