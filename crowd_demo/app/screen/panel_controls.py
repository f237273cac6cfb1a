"""How the user wants the HUD, and the actions that change it."""

from __future__ import annotations

from collections.abc import Callable

from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen.notices import Notices
from crowd_demo.app.screen.preferences import Preferences
from crowd_demo.config.model import HudSettings
from crowd_demo.render.hud.status import PanelSettings

MODES = ("full", "compact", "off")
SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0)
THEMES = ("dark", "light")
UNITS = ("fps", "ms")
PANELS = "panels"  # topic of notices
HIDDEN_KEYS = {"hud": "shows them again", "help": "all keys"}
HIDDEN_S = 6.0


class PanelControls:
    """`now` is what the HUD draws by; what is changed becomes a preference, but for hidden panels: a start shows them.

    `show_held` shows those that have made room for a tour, and returns whether there are any.
    """

    def __init__(self, preferences: Preferences, window: HudSettings, keymap: Keymap, show_held: Callable[[], bool],
                 notices: Notices) -> None:
        self._preferences, self._keymap, self._show_held, self._notices = preferences, keymap, show_held, notices
        self.now = PanelSettings(window.hud, window.scale, window.theme, window.units, frozenset(preferences.values.folded))

    def next_mode(self, backwards: bool = False) -> None:
        """Show the panels in full, compact or not at all; in full first where they are compact to make room."""
        if self._show_held():
            return
        self._change(hud=_next(MODES, self.now.hud, backwards))
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
        self._change(folded=self.now.folded | {section}, opened=tuple(name for name in self.now.opened if name != section))

    def unfold(self, section: str) -> None:
        """Show a section, also if others have to be folded for it."""
        others = tuple(name for name in self.now.opened if name != section)
        self._change(folded=self.now.folded - {section}, opened=(*others, section))

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
        if self.now.hud == "off":
            kept["hud"] = "full"
        self._preferences.change(**kept, folded=tuple(sorted(self.now.folded)))


def _next(choices: tuple[str, ...], value: str, backwards: bool = False) -> str:
    return choices[(choices.index(value) + (-1 if backwards else 1)) % len(choices)]
