"""Experiments in the window: beginning one, and letting it go on while the crowd on the screen stands still."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crowd_demo.app.compiling.ahead import Ahead, compile_missing
from crowd_demo.app.crowd.technique_controls import Techniques
from crowd_demo.app.dialogs.dialog import Dialog
from crowd_demo.app.dialogs.experiment_dialogs import AblationDialog, LargestDialog, MeasurementDialog
from crowd_demo.app.input.key_input import KeyAction, KeyActions
from crowd_demo.app.output.copying import Shown, command_for, effective
from crowd_demo.app.process.system import give_back_freed
from crowd_demo.app.process.worker import Worker
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.model import CameraSettings, Config
from crowd_demo.measure.ablation import Ablation, Measurement
from crowd_demo.measure.largest import Largest, present_and_rungs
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, yaml_word
from crowd_demo.render.camera import Camera
from crowd_demo.sim.snapshot import Snapshot

AnyDialog = AblationDialog | LargestDialog | MeasurementDialog


class Experiments:
    """At most one runs at a time.

    `screen` says what is on it, `open_dialog` shows the dialog of one, `keep` gets what was measured of a path.
    """

    def __init__(self, ahead: Ahead, techniques: Techniques, notices: Notices, config_name: str | None,
                 screen: Callable[[], Shown], open_dialog: Callable[[Dialog], object],
                 keep: Callable[[str, str], object]) -> None:
        self._compile_for = partial(compile_missing, ahead)
        self._techniques, self._notices, self._config_name = techniques, notices, config_name
        self._screen, self._open_dialog, self._keep = screen, open_dialog, keep
        self._dialog: AnyDialog | None = None  # of the experiment that runs

    @property
    def actions(self) -> KeyActions:
        return {"measure": KeyAction(self.measure), "ablate": KeyAction(self.ablate), "largest": KeyAction(self.largest)}

    # --- beginning one -----------------------------------------------------------------------------------------------

    def measure(self) -> None:
        """Measure the technique that was touched last: its value against the one before, or that against the baseline."""
        if not (path := self._techniques.touched):
            self._notices.add("switch a technique first: it is measured against the value that it had before", "measure")
            return
        technique, value = BY_PATH[path], self._techniques.value(path)
        name, other = technique.label.strip(), other_value(technique, value, self._techniques.previous.get(path))
        if other is None:
            self._notices.add(f"{name}: there is no other value", path)
        else:
            if value == technique.baseline:  # what a technique buys, not what its absence does
                value, other = other, value
            title = f"{name}: {yaml_word(value)} against {yaml_word(other)}"
            make = partial(self._measurement, path, value, other)
            self._begin(lambda: MeasurementDialog(title, make, self._notices.add, self._keep))

    def ablate(self) -> None:
        """Each technique off in turn."""
        self._begin(lambda: AblationDialog(
            lambda: Ablation(self._start(), self._compile_for), self._notices.add, self._repeat("ablate"), self._keep))

    def largest(self) -> None:
        """The largest crowd with the present techniques, and on each rung of the ladder."""
        self._begin(lambda: LargestDialog(self._largest, self._notices.add, self._repeat("largest --ladder")))

    def _begin(self, make: Callable[[], AnyDialog]) -> None:
        """Begin one, unless one runs, or a kernel is being compiled, beside which nothing can be measured."""
        if self._techniques.switcher.pending:
            self._notices.add("still compiling a technique: measure it when it is there", "experiment")
        elif not self.active:
            self._dialog = make()
            self._open_dialog(self._dialog)

    def _measurement(self, path: str, value: Value, other: Value) -> Measurement:
        start = self._start()
        return Measurement(start._replace(techniques={**start.techniques, path: value}), path, other, self._compile_for)

    def _largest(self) -> Largest:
        config = self._config()
        return Largest(config, present_and_rungs(config.optimizations), self._compile_for)

    def _config(self) -> Config:
        """What is on the screen; a view of the whole world stays one when the world grows."""
        screen = self._screen()
        config, camera = effective(screen), screen.camera
        whole = Camera(camera.world, camera.size, camera.docked)
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
