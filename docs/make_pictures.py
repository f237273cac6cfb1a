"""Make the pictures of the README and the docs, from the program itself: `python docs/make_pictures.py`."""

import subprocess
import sys
from pathlib import Path

PICTURES = Path(__file__).parent / "pictures"
SHOTS = {
    "20k": ["--frames", "400"],
    "1m-flock": ["--frames", "300", "--set", "window.hud=false"],
    "20k-flock": ["--frames", "900", "--set", "camera.zoom=0.9", "--set", "camera.center=[1500, 900]"],
    "1k": ["--frames", "600"],
    "crates": ["--frames", "1500", "--set", "window.hud=false"],
}


def main() -> None:
    for name, options in SHOTS.items():
        target = PICTURES / f"{name}.png"
        command = [sys.executable, "-m", "crowd_demo", "--config", name, "--headless", *options, "--screenshot", str(target)]
        subprocess.run(command, check=True)
        print(target)


if __name__ == "__main__":
    main()
