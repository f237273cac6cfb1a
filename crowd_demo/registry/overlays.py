"""The registry of overlays: what can be drawn over the picture. Keys, help screen and drawing derive from it."""

from __future__ import annotations

from crowd_demo.registry.entries import OverlayEntry
from crowd_demo.registry.plugins import with_plugins

BUILT_IN: tuple[OverlayEntry, ...] = (
    OverlayEntry("freeze", "freeze the culling frustum: see it from outside",
                 "crowd_demo.render.overlays.frustum:draw_frustum", "f"),
)

OVERLAYS: dict[str, OverlayEntry] = {
    entry.name: entry for entry in with_plugins(BUILT_IN, lambda plugin: plugin.overlays, lambda entry: entry.name)}
