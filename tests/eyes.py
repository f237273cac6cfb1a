"""Colours as everybody sees them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_demo.render.inks import RGB

Matrix = NDArray[np.float64]
EYES: dict[str, Matrix] = {  # on linear RGB: Viénot, Brettel and Mollon 1999
    "usual": np.eye(3),
    "protanopia": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deuteranopia": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}
XYZ: Matrix = np.array([[0.41246, 0.35758, 0.18044], [0.21267, 0.71515, 0.07218], [0.01933, 0.11919, 0.95030]])


def lab(colour: RGB, eye: Matrix) -> Matrix:
    """L*, a*, b* (D65) of an sRGB colour as that eye sees it."""
    return lab_of(np.array(colour), eye)


def lab_of(colours: NDArray[Any], eye: Matrix) -> Matrix:
    """The same of many colours [..., 3]."""
    shares = colours / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ eye.T, 0, 1) @ XYZ.T / XYZ.sum(axis=1)
    x, y, z = np.moveaxis(np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116), -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def distance(one: RGB, other: RGB) -> float:
    """The least distance in Lab of any eye; from some 2.3 on it can be seen, from 10 on at a glance."""
    return min(float(np.linalg.norm(lab(one, eye) - lab(other, eye))) for eye in EYES.values())
