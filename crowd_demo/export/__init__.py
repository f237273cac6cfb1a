"""What other programs read of a run: trajectories as files.

    sources        a recording, a save or a configuration -> one frame after another
    exchanges      ids that go over to somebody else at an exit
    people         who is who from one frame to the next
    outline        the walkable area as polygons, in WKT
    formats        the writers of trajectories, one for each suffix
    trajectories   from a source to a file: what is asked for, whether there is room, what was written
"""
