"""What is measured of trajectories, in metres and seconds, with NumPy alone; one concept a file.

    table      Trajectories, their recorder, lines and areas
    speed      of each person, and along an axis
    density    people in an area
    flow       who passes a line when; flow, its gaps
    lanes      the order parameter of lanes
    distance   to the nearest other

Where PedPy has the same measure, it gives the same numbers (tests/measure/trajectories).
"""
