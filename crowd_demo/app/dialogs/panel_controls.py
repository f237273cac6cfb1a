"""How the user wants the panels, and the parameters in them: sliders, values to type, presets.

A drag sets a parameter several times per frame, and frames may come faster than steps; so the last value waits until a
step was made since the last change: at most one action a tick. While the crowd is paused it waits until the drag ends.
"""

from __future__ import annotations

from collections.abc import Callable

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.crowd.crowd_controls import next_of
from crowd_demo.app.crowd.technique_controls import next_choice
from crowd_demo.app.dialogs.dialog import Dialogs, TextDialog
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen import Notices, Preferences
from crowd_demo.config.model import HudSettings, Number, value_of
from crowd_demo.config.section import NumberSetting
from crowd_demo.render.hud.sections import NUMBERS, scale_of, value_text
from crowd_demo.render.hud.status import NumberRow, PanelSettings
from crowd_demo.sim.tuning import SetNumbers, Tune

OF_NEIGHBOUR_LIMIT = "limit_scanned", "limit_kept"  # they count with this technique alone
BORN_LATER = "for who is born from now on"
MODES = ("compact", "full", "off")
NARROW = ("compact", "full", "right", "off")  # where there is room for one side panel at a time
SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0)
THEMES = ("dark", "light")
UNITS = ("fps", "ms")
PANELS = "panels"  # topic of notices
HIDDEN_KEYS = {"hud": "shows them again", "help": "all keys"}
HIDDEN_S = 6.0


class Numbers:
    def __init__(self, crowd: Crowd, panels: PanelControls, dialogs: Dialogs, notices: Notices) -> None:
        self._crowd, self._panels, self._dialogs, self._notices = crowd, panels, dialogs, notices
        self._listed = {number.path: number for number in crowd.config.numbers}
        self.dragged: tuple[str, float] | None = None  # by a drag, and not applied yet
        self._dragging = False
        self._applied: tuple[str, int] = "", -1  # the last number that a drag changed, and the tick

    @property
    def shown(self) -> bool:
        return NUMBERS in self._panels.now.opened and self._panels.now.hud == "full"

    def rows(self) -> tuple[NumberRow, ...]:
        """The rows as they are, or will be with the value of a drag; none while the section is folded."""
        if not self.shown:
            return ()
        sim, limited = self._crowd.sim, self._crowd.sim.neighbour_limit != "none"
        dragged = dict([self.dragged] if self.dragged else [])
        return tuple(NumberRow(number, dragged.get(path, value_of(sim.settings, path)), value_of(sim.config, path))
                     for path, number in self._listed.items() if limited or number.key not in OF_NEIGHBOUR_LIMIT)

    # --- asking ------------------------------------------------------------------------------------------------------

    def show(self) -> None:
        if self.shown:
            self._panels.fold(NUMBERS)
        else:
            self._panels.show_section(NUMBERS)

    def drag(self, path: str, position: float) -> None:
        """Move a slider to a place, 0 to 1; in a replay do nothing."""
        if path in self._listed and self._crowd.takes_changes():
            number, shipped = self._listed[path], value_of(self._crowd.sim.config, path)
            self._dragging, self.dragged = True, (path, scale_of(NumberRow(number, shipped, shipped)).value_at(position))

    def release(self) -> None:
        self._dragging = False

    def offer(self) -> None:
        """Apply the value of a drag, if it is time. Call in every frame in which there is one."""
        assert self.dragged
        path, value = self.dragged
        paused, tick = self._crowd.paused, self._crowd.sim.tick
        if self._dragging if paused else self._applied == (path, tick):
            return
        self.dragged, self._applied = None, (path, tick)
        self._tune(path, value)

    def reset(self, path: str) -> None:
        if path in self._listed and self._crowd.takes_changes():
            self.dragged = None
            self._tune(path, value_of(self._crowd.sim.config, path))

    def reset_all(self, ship: bool = False) -> None:
        """Give all numbers the values of the configuration, or, whatever it says, those that the program ships."""
        self.dragged, config = None, self._crowd.sim.config
        shipped = type(config).model_validate({}) if ship else config
        values = ((path, value_of(shipped, path)) for path, number in self._listed.items() if number.live != "no")
        self._crowd.apply(SetNumbers(tuple((path, value) for path, value in values if value != value_of(config, path))))
        self._notices.add(f"all numbers as {'the program ships them' if ship else 'in the configuration'}", NUMBERS)

    def type_value(self, path: str) -> None:
        """Let the user type the value of a number; or say why it cannot be changed."""
        number = self._listed[path]
        if number.live == "no":
            self._notices.add(f"{path} cannot be changed while the crowd runs: {number.why_not}", path)
        elif self._crowd.takes_changes():
            now = self._text(path, value_of(self._crowd.sim.settings, path))
            self._dialogs.open(TextDialog(f"{path}, now {now}", lambda text: self._tune(path, read(number, text))))

    def _tune(self, path: str, value: Number) -> None:
        if value != value_of(self._crowd.sim.settings, path):
            self._crowd.apply(Tune(path, value))
            if self._listed[path].live == "birth":
                self._notices.add(f"{path} {self._text(path, value)}: {BORN_LATER}", path)

    def _text(self, path: str, value: Number) -> str:
        return value_text(NumberRow(self._listed[path], value, value))


def read(number: NumberSetting, text: str) -> Number:
    """Return the value that was typed. Raises ValueError for what is none, or out of range."""
    try:
        value = int(text) if number.is_whole else number.scale * float(text)
    except ValueError:
        value = float("nan")
    if not number.low <= value <= number.high:
        kind = "a whole number" if number.is_whole else "a number"
        low, high = number.low / number.scale, number.high / number.scale
        raise ValueError(f"must be {kind} from {low:g} to {high:g}")
    return value


# --- the panels ------------------------------------------------------------------------------------------------------

class PanelControls:
    """`now` is what the HUD draws by. Changes become a preference, except for hidden panels: a start shows them."""

    def __init__(self, preferences: Preferences, window: HudSettings, keymap: Keymap, is_wide: Callable[[], bool],
                 notices: Notices) -> None:
        self._preferences, self._keymap, self._is_wide, self._notices = preferences, keymap, is_wide, notices
        self.now = PanelSettings(window.hud, window.scale, window.theme, window.units, preferences.values.opened)

    def next_mode(self, backwards: bool = False) -> None:
        """Show the HUD compact, in full or not at all; in a narrow window one panel of the full HUD after the other."""
        modes = MODES if self._is_wide() and self.now.hud != "right" else NARROW
        self._change(hud=next_choice(modes, self.now.hud, backwards))
        if self.now.hud == "off":
            named = ", ".join(f"{key} {what}" for action, what in HIDDEN_KEYS.items() if (key := self._keymap.key(action)))
            self._notices.add(f"the panels are hidden: {named}".removesuffix(": "), PANELS, HIDDEN_S)
        else:
            self._notices.drop(PANELS)

    def go_on(self, setting: str) -> None:
        """Go on to the next theme, or to the other units."""
        self._change(**{setting: next_choice({"theme": THEMES, "units": UNITS}[setting], getattr(self.now, setting))})

    def resize(self, direction: int) -> None:
        """Make text and panels a step larger (1) or smaller (-1), or (0) as large as usual."""
        self._change(scale=next_of(SCALES, self.now.scale, direction) if direction else 1.0)

    def fold(self, section: str) -> None:
        self._change(opened=tuple(name for name in self.now.opened if name != section))

    def unfold(self, section: str) -> None:
        """Show a section, also if others have to be folded for it."""
        self._change(opened=(*(name for name in self.now.opened if name != section), section))

    def show_section(self, section: str) -> None:
        if self.now.hud != "full":
            self._change(hud="full")
            self._notices.drop(PANELS)
        self.unfold(section)

    def fit_graph(self) -> None:
        self._change(graph_fits=self.now.graph_fits + 1)

    def _change(self, **values: object) -> None:
        self.now = self.now._replace(**values)  # type: ignore[arg-type]
        kept = {name: value for name, value in values.items() if name in HudSettings.model_fields}
        if "hud" in kept:
            kept["hud"] = {"off": "compact", "right": "full"}.get(self.now.hud, self.now.hud)
        self._preferences.change(**kept, opened=tuple(self.now.opened))
