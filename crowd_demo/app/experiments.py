"""Experiments in the window: beginning one, and letting it go on while the crowd on the screen stands still."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from crowd_demo.app.ahead import Ahead, compile_missing
from crowd_demo.app.copying import Shown, command_for, effective
from crowd_demo.app.dialogs import Dialog
from crowd_demo.app.experiment_dialogs import AblationDialog, LargestDialog, MeasurementDialog
from crowd_demo.app.heap import give_back_freed
from crowd_demo.app.slices import Running
from crowd_demo.app.worker import Worker
from crowd_demo.config.model import CameraSettings, Config
from crowd_demo.measure.ablation import Ablation
from crowd_demo.measure.ladder import present_and_rungs
from crowd_demo.measure.largest import Largest
from crowd_demo.measure.measurement import Measurement
from crowd_demo.measure.text import shown
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.camera import Camera
from crowd_demo.sim.snapshot import Snapshot


class ExperimentDialog(Dialog, Protocol):
    """The dialog of an experiment, which goes on while it is open."""

    running: Running

    def ended(self) -> None:
        """It is over."""


class Experiments:
    """At most one runs at a time.

    `screen` says what is on it, `tell` shows a line about something, `keep` gets what was measured of a path.
    """

    def __init__(self, ahead: Ahead, screen: Callable[[], Shown], config_name: str | None,
                 tell: Callable[[str, str], object], keep: Callable[[str, str], object]) -> None:
        self._compile_for = partial(compile_missing, ahead)
        self._screen, self._config_name, self._tell, self._keep = screen, config_name, tell, keep
        self._dialog: ExperimentDialog | None = None

    # --- beginning one -----------------------------------------------------------------------------------------------

    def measure(self, path: str, other: Value) -> Dialog:
        """A technique's present value against another one."""
        title = f"{BY_PATH[path].label.strip()}: {shown(self._screen().techniques.get(path))} against {shown(other)}"
        return self._begin(MeasurementDialog(
            title, lambda: Measurement(self._start(), path, other, self._compile_for), self._tell, self._keep))

    def ablate(self) -> Dialog:
        """Each technique off in turn."""
        return self._begin(AblationDialog(
            lambda: Ablation(self._start(), self._compile_for), self._tell, self._repeat("ablate"), self._keep))

    def largest(self) -> Dialog:
        """The largest crowd with the present techniques, and on each rung of the ladder."""
        def make() -> Largest:
            config = self._config()
            return Largest(config, present_and_rungs(config.optimizations), self._compile_for)
        return self._begin(LargestDialog(make, self._tell, self._repeat("largest --ladder")))

    def _begin(self, dialog: AblationDialog | LargestDialog | MeasurementDialog) -> Dialog:
        self._dialog = dialog
        return dialog

    def _config(self) -> Config:
        """What is on the screen; a view of the whole world stays one when the world grows."""
        screen = self._screen()
        config, camera = effective(screen), screen.camera
        whole = Camera(camera.world, camera.size)
        if (camera.x, camera.y, camera.zoom) == (whole.x, whole.y, whole.zoom):
            return config.model_copy(update={"camera": CameraSettings(center=None, zoom=None)})
        return config

    def _start(self) -> Snapshot:
        return self._screen().sim.snapshot()._replace(config=self._config())

    def _repeat(self, command: str) -> str:
        return command_for(self._screen(), self._config_name, command)

    # --- going on ----------------------------------------------------------------------------------------------------

    @property
    def active(self) -> bool:
        """Is one running? Then no frame may be computed."""
        return self._dialog is not None

    def advance(self, worker: Worker) -> None:
        """Run some slices, or end the experiment if it is over or its dialog was closed."""
        dialog = self._dialog
        if dialog is None:
            return
        if dialog.closed:
            dialog.running.stop()
        dialog.running.advance(worker)
        if dialog.running.over:
            self._dialog = None
            dialog.ended()
            worker.submit(give_back_freed)


def other_value(technique: Technique, value: Value, before: Value | None) -> Value | None:
    """What a technique's value is measured against: the one before, its baseline, or its default; None if it has no other."""
    others = [other for other in (before, technique.baseline, technique.default) if other not in (None, value)]
    return others[0] if others else None
