"""The compact HUD: frames a second, and the technique that was touched last."""

from __future__ import annotations

from crowd_demo.registry.techniques import BY_PATH, hud_word
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.frame_sections import SMOOTHED
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.status import Status
from crowd_demo.render.hud.theme import ACCENT, DIM, HUGE, LARGE, NORMAL, PAD, WARM
from crowd_demo.sim.simulation import Simulation

WIDTH, HEIGHT = 250.0, 62.0


def draw_compact(sim: Simulation, status: Status, pen: Pen, scale: float) -> Canvas:
    on = Canvas((WIDTH, HEIGHT), pen, scale)
    frames = sim.profile.frame_ms(SMOOTHED)
    mean = float(frames.mean()) if len(frames) else 0.0
    end = on.left(f"{1e3 / mean if mean else 0.0:.0f}", PAD, 22, HUGE)
    on.left("FPS", end + 6, 27, NORMAL, DIM)
    on.target((PAD, 6, end + 30, 30), "fact", "FPS")
    on.right("paused" if status.paused else f"{mean:.2f} ms", WIDTH - PAD, 25, LARGE, WARM if status.paused else DIM)
    technique = BY_PATH[status.touched] if status.touched else None
    if technique:
        value = hud_word(status.pending.get(technique.path, sim.optimizations.get(technique.path)))
        end = on.left(technique.label.strip(), PAD, 48, NORMAL)
        on.left(value + " …" * (technique.path in status.pending), end + 8, 48, NORMAL, ACCENT)
        on.target((0, 38, WIDTH, 20), "technique", technique.path)
    return on
