"""Lengths, speeds and densities in words: in metres for people, in world units for all others."""

from __future__ import annotations

from crowd_demo.config.section import metres, per_square_metre
from crowd_demo.sim.simulation import Simulation


def in_metres(sim: Simulation) -> bool:
    """Are these people, whose sizes and speeds are given in metres?"""
    return sim.config.behaviour == "crowd"


def length_text(sim: Simulation, units: float) -> str:
    return f"{metres(units):.{2 if metres(units) < 0.995 else 1}f} m" if in_metres(sim) else f"{round(units, 1):g} units"


def size_text(sim: Simulation, width: float, height: float) -> str:
    """Both sides of a rectangle."""
    return f"{metres(width):.1f} x {metres(height):.1f} m" if in_metres(sim) else f"{width:.0f} x {height:.0f} units"


def place_text(sim: Simulation, x: float, y: float) -> str:
    return f"{metres(x):.2f}, {metres(y):.2f} m" if in_metres(sim) else f"{x:.1f}, {y:.1f}"


def speed_text(sim: Simulation, *units_a_second: float, joined: str = ", ", sign: str = "") -> str:
    """A speed, or several with one unit."""
    if in_metres(sim):
        return joined.join(f"{metres(each):{sign}.2f}" for each in units_a_second) + " m/s"
    return joined.join(f"{each:{sign}.1f}" for each in units_a_second) + " units/s"


def density_text(sim: Simulation, per_square_unit: float) -> str:
    return (f"{per_square_metre(per_square_unit):.2f} a m²" if in_metres(sim)
            else f"{per_square_unit * 1e4:.2f} in 100 x 100 units")


def square_text(sim: Simulation, side: float) -> str:
    """A square of that side."""
    length = metres(side)
    text = f"{length:.2g}" if length < 10 else f"{length:.0f}"
    return f"{text} x {text} m" if in_metres(sim) else f"{side:g} x {side:g} units"
