"""How the user wants the HUD, and the actions that change it."""

from __future__ import annotations

from collections.abc import Callable

from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen.notices import Notices
from crowd_demo.app.screen.preferences import Preferences
from crowd_demo.config.model import HudSettings
from crowd_demo.render.hud.status import PanelSettings

MODES = ("compact", "full", "off")
NARROW = ("compact", "full", "right", "off")  # where there is room for one side panel at a time
SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0)
THEMES = ("dark", "light")
UNITS = ("fps", "ms")
PANELS = "panels"  # topic of notices
HIDDEN_KEYS = {"hud": "shows them again", "help": "all keys"}
HIDDEN_S = 6.0


class PanelControls:
    """`now` is what the HUD draws by. Changes become a preference, except for hidden panels: a start shows them."""

    def __init__(self, preferences: Preferences, window: HudSettings, keymap: Keymap, is_wide: Callable[[], bool],
                 notices: Notices) -> None:
        self._preferences, self._keymap, self._is_wide, self._notices = preferences, keymap, is_wide, notices
        self.now = PanelSettings(window.hud, window.scale, window.theme, window.units, preferences.values.opened)

    def next_mode(self, backwards: bool = False) -> None:
        """Show the HUD compact, in full or not at all; in a narrow window one panel of the full HUD after the other."""
        modes = MODES if self._is_wide() and self.now.hud != "right" else NARROW
        self._change(hud=_next(modes, self.now.hud, backwards))
        if self.now.hud == "off":
            named = ", ".join(f"{key} {what}" for key, what in self._keymap.hints(HIDDEN_KEYS))
            self._notices.add(f"the panels are hidden: {named}".removesuffix(": "), PANELS, HIDDEN_S)
        else:
            self._notices.drop(PANELS)

    def go_on(self, setting: str) -> None:
        """Go on to the next theme, or to the other units."""
        self._change(**{setting: _next({"theme": THEMES, "units": UNITS}[setting], getattr(self.now, setting))})

    def resize(self, direction: int) -> None:
        """Make text and panels a step larger (1) or smaller (-1), or (0) as large as usual."""
        beyond = [scale for scale in SCALES if (scale - self.now.scale) * direction > 0]
        if direction == 0:
            self._change(scale=1.0)
        elif beyond:
            self._change(scale=min(beyond, key=lambda scale: abs(scale - self.now.scale)))

    def fold(self, section: str) -> None:
        self._change(opened=tuple(name for name in self.now.opened if name != section))

    def unfold(self, section: str) -> None:
        """Show a section, also if others have to be folded for it."""
        self._change(opened=(*(name for name in self.now.opened if name != section), section))

    def show_section(self, section: str) -> None:
        """Show a section of the full HUD, also if that is not shown."""
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


def _next(choices: tuple[str, ...], value: str, backwards: bool = False) -> str:
    return choices[(choices.index(value) + (-1 if backwards else 1)) % len(choices)]
