"""A crowd at several moments, side by side in one PNG. No window is opened.

    python examples/strip_of_pictures.py strip.png --config rope --every 60 --zoom 0.4
"""

import argparse

import numpy as np
import pygame

from crowd_demo import Simulation, load_config


def main() -> None:
    parser = argparse.ArgumentParser(description="A crowd at several moments, side by side.")
    parser.add_argument("target", help="the PNG to write")
    parser.add_argument("--config", default="20k-flock")
    parser.add_argument("--agents", type=int)
    parser.add_argument("--pictures", type=int, default=4)
    parser.add_argument("--every", type=int, default=120, help="steps from one picture to the next")
    parser.add_argument("--size", type=int, default=320, help="side of a picture in pixels")
    parser.add_argument("--zoom", type=float, help="pixels a world unit; all of the world if not given")
    args = parser.parse_args()

    sim = Simulation(load_config(args.config, {} if args.agents is None else {"agents": args.agents}))
    pictures = []
    for _ in range(args.pictures):
        sim.step(args.every)
        pictures.append(sim.picture(args.size, args.size, zoom=args.zoom))  # uint8[height, width, 3]
    save(np.concatenate(pictures, axis=1), args.target)
    print(f"{args.target}: {args.pictures} pictures, the last one of step {sim.tick}")


def save(picture: np.ndarray, path: str) -> None:
    height, width, _ = picture.shape
    pygame.image.save(pygame.image.frombuffer(picture.tobytes(), (width, height), "RGB"), path)


if __name__ == "__main__":
    main()
