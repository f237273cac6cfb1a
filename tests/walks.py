"""Trajectories made by hand, and by chance."""

import numpy as np

from crowd_demo.extras.trajectories import Trajectories, TrajectoryRecorder


def walked(people: dict[int, list[tuple[float, float]]], fps: float = 10.0) -> Trajectories:
    """Everybody's places, frame by frame, from frame 0 on."""
    recorder = TrajectoryRecorder(fps)
    for frame in range(max(map(len, people.values()))):
        here = [(person, *places[frame]) for person, places in people.items() if frame < len(places)]
        recorder.add(*zip(*here, strict=True))
    return recorder.trajectories()


def straight(velocity: tuple[float, float], frames: int, start: tuple[float, float] = (0, 0),
             fps: float = 10.0) -> list[tuple[float, float]]:
    return [(start[0] + velocity[0] * frame / fps, start[1] + velocity[1] * frame / fps) for frame in range(frames)]


def by_chance(people: int = 12, frames: int = 80, seed: int = 1) -> Trajectories:
    """Everybody walks to and fro about the origin, in steps of up to half a metre; some leave early."""
    rng = np.random.default_rng(seed)
    return walked({person: [tuple(place) for place in np.cumsum(rng.uniform(-0.5, 0.5, (rng.integers(30, frames), 2)), axis=0)]
                   for person in range(people)})
