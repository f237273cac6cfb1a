"""Keys on any layout, from the event to its effect, and the mouse."""

import sys
import time
from pathlib import Path
from statistics import median
from types import FrameType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, call

import pygame
import pytest
from driven import Driven
from layouts import PLACES, PLAIN, keymap, press, types

import crowd_demo
from crowd_demo.app import window_events
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.pace import Meters
from crowd_demo.app.screen import Pointer, close_window
from crowd_demo.app.window_events import PAN_PX_PER_S, REPEAT_AFTER_S, Keyboard, Mouse
from crowd_demo.cli import main
from crowd_demo.compute.jit import Kernel
from crowd_demo.config.keys import ACTIONS, Keys
from crowd_demo.registry.actions import OFTEN_S
from crowd_demo.render.hud.canvas import Target

LONG_S = 9.0  # a slow frame


class Reader(Keyboard):
    """`done` are the actions that were done, "<" before their names with Shift; `offered` the keys that no dialog took."""

    def __init__(self, **keys: object) -> None:
        self.done: list[str] = []
        self.offered: list[str] = []
        self.keymap = Keymap(Keys.model_validate(keys))
        self.dialogs = SimpleNamespace(stack=[], top=None, press=self._refuse)
        self.guide = SimpleNamespace(latest=True, wanted=set(), press=self._refuse)
        program: Any = SimpleNamespace(keymap=self.keymap, dialogs=self.dialogs, guide=self.guide,
                                       act=lambda action, shifted: self.done.append("<" * shifted + action))
        super().__init__(program)

    def _refuse(self, name: str, shift: bool = False) -> bool:
        self.offered.append("<" * shift + name)
        return False

    def press(self, *names: str, mod: int = 0) -> list[str]:
        """Press keys; return all that was done so far."""
        for name in names:
            self.down(key(name, mod))
        return self.done

    def after(self, elapsed_s: float) -> list[str]:
        """What is done by keys that are held for so long."""
        self.done = []
        self.repeat(elapsed_s)
        return self.done


@pytest.fixture
def reader(screen: pygame.Surface) -> Reader:
    return Reader()


@pytest.fixture
def over_dialog(reader: Reader) -> Reader:
    """One for whom a dialog is open."""
    reader.dialogs.stack, reader.dialogs.top = [1], 1
    reader.listen()
    return reader


def key(name: str, mod: int = 0, kind: int = pygame.KEYDOWN) -> pygame.Event:
    return pygame.Event(kind, key=pygame.key.key_code(name), mod=mod)


@pytest.mark.quick
def test_a_key_is_the_action_that_it_is_bound_to_and_shift_goes_backwards(reader: Reader) -> None:
    assert reader.press("space", "1") == ["pause", "neighbours"]
    assert reader.press("1", mod=pygame.KMOD_LSHIFT)[2:] == ["<neighbours"]
    for mod in (pygame.KMOD_LCTRL, pygame.KMOD_LALT, pygame.KMOD_LMETA):  # shortcuts of the system
        reader.press("u", mod=mod)
    assert Reader(pause="p", largest=None).press("space", "p") == ["pause"] and len(reader.done) == 3


@pytest.mark.quick
def test_held_keys_pan_until_they_are_released_and_opposite_ones_cancel(reader: Reader) -> None:
    reader.press("d", "up")
    assert reader.pan(0.1) == (PAN_PX_PER_S / 10, -PAN_PX_PER_S / 10)
    reader.up(key("d", kind=pygame.KEYUP))
    assert reader.pan(0.1) == (0, -PAN_PX_PER_S / 10)
    reader.up(key("up", kind=pygame.KEYUP))
    reader.press("a", "d")
    assert reader.pan(0.1) == (0, 0)


@pytest.mark.quick
def test_a_held_number_key_goes_on_after_a_while_and_once_a_frame(reader: Reader) -> None:
    assert reader.press("]") == ["higher"]
    assert reader.after(LONG_S) == []  # the frame in which it went down
    assert reader.after(REPEAT_AFTER_S * 0.9) == []
    assert reader.after(REPEAT_AFTER_S * 0.2) == ["higher"]
    assert reader.after(OFTEN_S * 0.9) == []
    assert reader.after(LONG_S) == ["higher"]
    reader.up(key("]", kind=pygame.KEYUP))
    assert reader.after(LONG_S) == []


@pytest.mark.parametrize(("name", "repeated"), [
    ("=", ["more"]), (",", ["slower"]), (".", ["step"]), ("page up", ["higher"]), ("4", []), ("tab", []), ("space", [])])
@pytest.mark.quick
def test_agents_speed_steps_and_numbers_repeat(reader: Reader, name: str, repeated: list[str]) -> None:
    reader.press(name)
    reader.repeat(0.0)
    assert reader.after(LONG_S) == repeated
    reader.up(key(name, kind=pygame.KEYUP))
    assert reader.after(LONG_S) == []


@pytest.mark.quick
def test_a_key_that_types_something_else_when_it_goes_up_is_released(reader: Reader) -> None:
    slash = {"scancode": pygame.KSCAN_7, "key": pygame.K_7}
    reader.down(pygame.Event(pygame.KEYDOWN, slash, mod=pygame.KMOD_LSHIFT, unicode="/"))
    assert reader.done == ["faster"]
    reader.up(pygame.Event(pygame.KEYUP, slash, mod=0, unicode="/"))
    assert reader.after(0.0) == reader.after(LONG_S) == []


@pytest.mark.quick
def test_an_open_dialog_gets_every_key_and_only_what_concerns_the_window_is_done_besides(over_dialog: Reader) -> None:
    reader = over_dialog
    reader.press("return", "enter", "`", "[8]", "up", "f1", "f12")
    reader.press("1", mod=pygame.KMOD_LSHIFT)
    assert reader.offered == ["return", "return", "`", "8", "up", "f1", "f12", "<1"] and reader.done == ["help", "screenshot"]
    reader.press("left alt")
    reader.press("a", mod=pygame.KMOD_LALT)
    reader.press("right shift", mod=pygame.KMOD_RSHIFT)
    assert len(reader.offered) == 8
    assert reader.press("=", mod=pygame.KMOD_LCTRL)[2:] == ["larger"] and len(reader.offered) == 8, "chords go past it"


@pytest.mark.quick
def test_a_key_that_is_wanted_without_a_dialog_is_offered_and_others_are_not(reader: Reader) -> None:
    reader.guide.wanted = {"return"}
    reader.listen()
    assert reader.press("return", "1") == ["menu", "neighbours"] and reader.offered == ["return"]


@pytest.mark.quick
def test_in_a_dialog_arrows_and_page_keys_repeat_and_nothing_pans(over_dialog: Reader) -> None:
    reader = over_dialog
    reader.press("down", "page up", "=", "a")
    reader.repeat(0.0)
    reader.offered = []
    assert reader.after(LONG_S) == [] and reader.offered == ["down", "page up"] and reader.pan(0.1) == (0, 0)


@pytest.mark.quick
def test_escape_and_closing_the_window_quit(reader: Reader) -> None:
    quits = reader.keymap.quits
    assert quits(pygame.Event(pygame.QUIT)) and quits(key("escape"))
    assert not quits(key("space")) and not quits(key("escape", kind=pygame.KEYUP))


# --- How many files a reader has to open who follows a key to what it does, or a frame from its beginning ------------

PACKAGE = str(Path(crowd_demo.__file__).parent)
ROOTS = ("WindowEvents.read", "Techniques.switch_to_compiled", "Crowd.carry_out_changes")  # what a frame calls
WALK = "KernelFinder.missing"  # lists the kernels of a step by going through a small copy of the crowd


class Followed:
    """A profile function of threads: what runs below the roots until a technique has its new value."""

    def __init__(self, driven: Driven) -> None:
        self.files: set[str] = set()
        self.depth: dict[str, int] = {}  # of each function
        self.walks = 0
        self._driven, self._is_set = driven, False

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        chain = launches_from_root(frame)
        if event != "call" or self._is_set or not chain or WALK in chain[1:]:
            return
        self.files.add(frame.f_code.co_filename)
        self.depth[chain[0]] = len(chain)
        self.walks += chain[0] == WALK
        self._is_set = chain[0] == "_Techniques.set" and frame.f_locals["self"] is self._driven.program.sim.optimizations


def launches_from_root(frame: FrameType | None) -> list[str]:
    """The functions of the program that are running, the innermost first, up to a root; none outside of the roots."""
    names: list[str] = []
    while frame:
        if frame.f_code.co_filename.startswith(PACKAGE):
            names.append(frame.f_code.co_qualname)
        elif not names:
            return []
        if names[-1:] and names[-1] in ROOTS:
            return names
        frame = frame.f_back
    return []


def test_from_key_2_to_the_value_it_is_seven_calls_and_fifteen_files(driven: Driven) -> None:
    for mod in (0, pygame.KMOD_LSHIFT):  # both values are compiled then
        driven.settled("2", mod=mod)
    path = Followed(driven)
    driven.loop.worker.submit(lambda: sys.setprofile(path)).result()
    sys.setprofile(path)
    try:
        driven.press("2")
    finally:
        sys.setprofile(None)
        driven.loop.worker.submit(lambda: sys.setprofile(None)).result()
    assert driven.program.sim.optimizations.simd is False
    assert path.depth["Switcher.request"] <= 7 and path.depth["_Techniques.set"] <= 8
    assert len(path.files) <= 15, sorted(path.files)
    assert path.walks == 1


def test_a_frame_goes_through_sixty_three_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """In half of all frames of a sixtieth of a second: now and then the HUD is written anew, or a keyframe is taken."""
    driven = Driven("agents=2000", "map=plaza", config="20k")
    now_s = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now_s)  # on a slow machine frames would be longer
    driven.program.crowd.meters = Meters(time.perf_counter)
    for _ in range(40):
        now_s += 1 / 60
        driven.frames()
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            files.add(frame.f_code.co_filename)
            if isinstance(kernel := frame.f_locals.get("self"), Kernel):
                files.add(kernel.share.__code__.co_filename)

    counts = []
    driven.loop.worker.submit(lambda: sys.setprofile(note)).result()
    sys.setprofile(note)
    try:
        for _ in range(60):
            files.clear()
            now_s += 1 / 60
            driven.frames()
            counts.append(len(files))
    finally:
        sys.setprofile(None)
        driven.loop.worker.submit(lambda: sys.setprofile(None)).result()
    assert median(counts) <= 63, sorted(counts)


# --- Keys of several layouts: what they do, and what they are shown as -----------------------------------------------

quick = pytest.mark.quick
SHIFT, ALTGR, CTRL = pygame.KMOD_LSHIFT, pygame.KMOD_RALT, pygame.KMOD_LCTRL


def done(layout: str, place: str, mod: int = 0, bound: dict[str, str] | None = None) -> tuple[str, bool]:
    """What the key at that place of a US keyboard does, and whether as with Shift."""
    here = keymap(layout)
    here.bindings = bound or here.bindings
    return here.action(press(layout, place, mod))


@quick
@pytest.mark.parametrize("layout", PLAIN)
def test_digits_and_wasd_are_places_and_each_letter_and_digit_has_one_key_without_shift(layout: str) -> None:
    assert [done(layout, digit) for digit in "79"] == [("cull", False), ("blitter", False)]
    assert [done(layout, place)[0] for place in "wasd"] == ["pan_up", "pan_left", "pan_down", "pan_right"]
    bound = {key: key for key in "abcdefghijklmnopqrstuvwxyz0123456789"}
    pressed = [done(layout, place, bound=bound) for place in PLACES]
    assert sorted(action for action, _ in pressed if action) == sorted(bound)


@quick
@pytest.mark.parametrize(("layout", "place", "mod", "action"), [
    ("us", "/", SHIFT, "help"), ("de", "-", SHIFT, "help"), ("fr", "m", SHIFT, "help"), ("es", "-", SHIFT, "help"),
    ("us", "/", 0, "faster"), ("de", "7", SHIFT, "faster"), ("fr", ".", SHIFT, "faster"), ("es", "7", SHIFT, "faster"),
    ("us", "[", 0, "lower"), ("de", "8", ALTGR, "lower"), ("fr", "5", ALTGR, "lower"), ("es", "[", ALTGR, "lower"),
    ("us", "-", 0, "fewer"), ("de", "/", 0, "fewer"), ("fr", "6", 0, "stagger.paths"), ("es", "/", 0, "fewer"),
    ("us", "=", 0, "more"), ("de", "0", SHIFT, "more"), ("de", "]", 0, "more"), ("fr", "=", 0, "more"), ("es", "]", 0, "more"),
    ("us", ".", 0, "step"), ("de", ".", 0, "step"), ("fr", ",", SHIFT, "step"), ("es", ".", 0, "step"),
    ("us", ",", 0, "slower"), ("de", ",", 0, "slower"), ("fr", "m", 0, "slower"), ("es", ",", 0, "slower"),
    ("us", "=", CTRL, "larger"), ("us", "=", CTRL | SHIFT, "larger"), ("de", "]", CTRL, "larger"), ("fr", "=", CTRL, "larger"),
    ("us", "-", CTRL, "smaller"), ("de", "/", CTRL, "smaller"), ("fr", "6", CTRL, "smaller"),
    ("us", "0", CTRL, "normal_size"), ("de", "0", CTRL, "normal_size"), ("fr", "0", CTRL, "normal_size"),
])
def test_signs_are_what_is_typed(layout: str, place: str, mod: int, action: str) -> None:
    assert done(layout, place, mod) == (action, False)


@quick
@pytest.mark.parametrize("layout", ["us", "de", "fr", "es"])
def test_shift_steps_backwards_unless_it_types_a_bound_sign(layout: str) -> None:
    assert done(layout, "8", SHIFT) == ("depth", True)
    assert done(layout, "e", SHIFT) == ("reorder.every", True)
    bound = {"8": "depth", "(": "pause", "*": "pause"}
    assert done(layout, "8", SHIFT, bound) == (("depth", True) if layout == "fr" else ("pause", False))


@quick
def test_alt_alone_is_the_systems_but_altgr_types_and_a_place_that_is_not_bound_is_a_character() -> None:
    assert done("us", "8", ALTGR) == done("de", "q", ALTGR) == done("de", "7", pygame.KMOD_LALT) == ("", False)
    assert done("de", "8", ALTGR | CTRL) == ("lower", False)  # as Windows reports it
    assert done("fr", "a", bound={"q": "pause"}) == done("fr", "6", bound={"-": "pause"}) == ("pause", False)


@quick
def test_the_keypad_counts_as_the_other_keys_unless_it_is_bound_itself(screen: pygame.Surface) -> None:
    here = Keymap(Keys.model_validate({"pause": "[5]"}))
    for name, mod, action in (
            ("[+]", 0, "more"), ("[+]", CTRL, "larger"), ("[4]", 0, "stagger.avoidance"), ("[5]", 0, "pause")):
        assert here.action(pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(name), mod=mod)) == (action, False)


@quick
@pytest.mark.parametrize(("layout", "labels"), [
    ("us", {"pan_up": ("w", "up"), "lower": ("[", "page down"), "faster": ("/",), "more": ("=", "insert"), "help": ("f1",),
            "larger": ("ctrl+=",), "cull": ("7",)}),
    ("de", {"pan_up": ("w", "up"), "lower": ("page down",), "faster": ("/", ">"), "more": ("+", "insert"), "help": ("f1",),
            "larger": ("ctrl++",), "cull": ("7",)}),
    ("fr", {"pan_up": ("z", "up"), "pan_left": ("q", "left"), "fewer": ("delete",), "more": ("=", "insert"), "cull": ("7",)}),
    ("ru", {"pan_up": ("ц", "up"), "stagger.sight": ("5",), "restart": ("к",)}),
    ("colemak", {"restart": ("d",)}),
])
def test_keys_are_shown_by_what_is_printed_on_them(layout: str, labels: dict[str, tuple[str, ...]]) -> None:
    shown = keymap(layout).shown
    assert {action: shown[action] for action in labels} == labels


@quick
@pytest.mark.parametrize("layout", PLAIN)
def test_a_shown_key_does_what_it_is_shown_for(layout: str) -> None:
    typed = dict(zip(PLAIN[layout], PLACES, strict=True))
    for action, names in keymap(layout).shown.items():
        for name in names:
            if len(name) == 1 and name in typed:
                assert done(layout, typed[name]) == (action, False), name


@quick
@pytest.mark.parametrize(("layout", "keys"), [
    ("us", {"faster": ("/", ">"), "more": ("=", "insert", "+"), "help": ("f1", "?"), "pan_up": ("w", "up")}),
    ("de", {"lower": ("page down", "["), "more": ("+", "insert", "="), "larger": ("ctrl++", "ctrl+="), "pan_up": ("w", "up")}),
    ("fr", {"pan_left": ("q", "left"), "colours": ("a",)}),
])
def test_all_keys_of_an_action_are_those_with_shift_too(layout: str, keys: dict[str, tuple[str, ...]]) -> None:
    here = keymap(layout)
    assert {action: here.all_keys(action) for action in keys} == keys


@quick
def test_without_a_known_layout_keys_are_shown_by_their_names_and_an_action_without_one_shows_none() -> None:
    shown = Keymap(Keys(), {}).shown
    assert set(shown) == set(ACTIONS) and (shown["pan_up"], shown["cull"]) == (("up",), ("7",))
    assert keymap("de", Keys.model_validate({"cull": None})).key("cull") == ""


def test_another_layout_changes_what_keys_are_called_and_how_they_are_shown(
        driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    here = driven.program.keymap
    assert {here.types[code] for code in (pygame.KSCAN_W, pygame.KSCAN_LEFTBRACKET)} == {"w", "["}
    assert here.shown["pan_up"] == ("w", "up")
    monkeypatch.setattr("crowd_demo.app.key_input.present_layout", lambda: types("fr"))
    driven.post(pygame.KEYMAPCHANGED)
    assert here.shown["pan_up"] == driven.program.hud.keys["pan_up"] == ("z", "up") and here.types == types("fr")
    driven.press("f1")
    view = driven.status().view
    assert view and ("pan up", "Z  Up") in [(row.text, row.detail) for row in view.rows]


def test_nothing_needs_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = [f"keys.{action}=null" for action in ACTIONS]
    driven = Driven(*nothing)
    driven.program.menus.open_keys()
    driven.program.menus.open_main()
    for _ in range(2):
        driven.frames()
        driven.program.act("hud")
    assert not any(driven.program.keymap.shown.values())
    close_window()
    assert main(["--list-keys", *(word for each in nothing for word in ("--set", each))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.startswith(" ")} == {"-"}


# --- What presses, drags and a resting cursor do, by what is drawn where they happen ---------------------------------

ROW, NUMBER, TIMELINE = Target("action", "pause"), Target("number", "reorder.every"), Target("timeline")
MINIMAP = Target("minimap")


def target_at(x: float, y: float) -> Target | None:
    """Columns of 100 pixels: the ground, an action, a number, the timeline, the minimap, the agents."""
    return (None, ROW, NUMBER, TIMELINE, MINIMAP, Target("number", "agents"))[int(x // 100)]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Remembers what is asked of it."""
    monkeypatch.setattr(window_events, "tick_at", lambda past, x, bar: x)
    program = MagicMock()
    program.dialogs.top, program.pointer = None, Pointer((320, 180))
    program.hud.target_at = target_at
    program.hud.minimap.world_at = lambda x, y: (10 * x, 10 * y)
    program.split.target_at.return_value = None
    program.tools.begin.return_value = False  # the hand is held
    program.camera.size, program.panels.now.scale = (640, 360), 1.0
    return program


@pytest.fixture
def mouse(program: MagicMock, screen: pygame.Surface) -> Mouse:
    return Mouse(program)


def event(kind: int, pos: tuple[float, float], **values: int) -> pygame.Event:
    return pygame.Event(kind, {"pos": pos, **values})


def read(mouse: Mouse, *events: pygame.Event) -> None:
    for each in events:
        mouse.read(each)


def drag(mouse: Mouse, start: float, *moves: float) -> None:
    """Press the left button there, move it so many pixels each, and release it."""
    x = start
    read(mouse, event(pygame.MOUSEBUTTONDOWN, (start, 5), button=1))
    for dx in moves:
        x += dx
        read(mouse, event(pygame.MOUSEMOTION, (x, 5)))
    read(mouse, event(pygame.MOUSEBUTTONUP, (x, 5), button=1))


@pytest.mark.quick
def test_a_press_that_does_not_move_is_a_click_on_what_is_there(mouse: Mouse, program: MagicMock) -> None:
    drag(mouse, 150)
    assert program.act.mock_calls == [call("pause")]
    drag(mouse, 250, 2, -1)
    assert program.techniques.touched == "reorder.every"
    drag(mouse, 50)
    assert program.inspector.mock_calls == [call.click(50, 5)]


@pytest.mark.quick
def test_the_number_of_agents_is_dragged_and_a_click_lets_one_type_it(mouse: Mouse, program: MagicMock) -> None:
    drag(mouse, 550, 30, -12)
    assert program.controls.drag_agents.mock_calls == [call(3), call(-1)] and not program.act.mock_calls
    drag(mouse, 550)
    assert program.act.mock_calls == [call("agents")] and not program.techniques.drag_number.mock_calls


@pytest.mark.quick
def test_dragging_the_ground_pulls_it_along(mouse: Mouse, program: MagicMock) -> None:
    drag(mouse, 150, 30)  # a panel stays
    drag(mouse, 50, 10, -4)
    assert program.camera.mock_calls == [call.pan(-10, 0), call.pan(4, 0)] and not program.inspector.mock_calls
    assert not program.act.mock_calls


@pytest.mark.parametrize("button", [2, 3])
@pytest.mark.quick
def test_other_buttons_pull_the_ground_wherever_they_are_pressed(mouse: Mouse, program: MagicMock, button: int) -> None:
    read(mouse, event(pygame.MOUSEBUTTONDOWN, (150, 100), button=button), event(pygame.MOUSEMOTION, (180, 90)),
         event(pygame.MOUSEMOTION, (181, 90)), event(pygame.MOUSEBUTTONUP, (181, 90), button=button))
    assert program.camera.mock_calls == [call.pan(-30, 10), call.pan(-1, 0)] and not program.act.mock_calls


@pytest.mark.quick
def test_with_shift_a_drag_of_the_ground_selects_a_box(
        mouse: Mouse, program: MagicMock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pygame.key, "get_mods", lambda: pygame.KMOD_LSHIFT)
    drag(mouse, 20, 3, 40)
    assert program.inspector.mock_calls == [call.select((20, 5), (63, 5))]


@pytest.mark.quick
def test_dragging_a_number_changes_it_step_by_step_wherever_the_cursor_gets(mouse: Mouse, program: MagicMock) -> None:
    notch = window_events.NOTCH_PX
    drag(mouse, 250, notch, notch / 2, notch / 2, -300 * notch)
    assert program.techniques.drag_number.mock_calls == [call("reorder.every", steps) for steps in (1, 1, -300)]


@pytest.mark.quick
def test_the_timeline_and_the_minimap_are_followed_until_the_button_is_released(mouse: Mouse, program: MagicMock) -> None:
    drag(mouse, 350, -200, 10)
    assert program.controls.seek.mock_calls == [call(350), call(150), call(160)] and not program.act.mock_calls
    drag(mouse, 450, -30, 10)
    assert program.seeing.mock_calls == [call.look_at(4500, 50), call.look_at(4200, 50), call.look_at(4300, 50)]


@pytest.mark.quick
def test_the_cursor_rests_on_a_target_after_a_while(
        mouse: Mouse, program: MagicMock, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    program.dialogs.top = dialog = MagicMock()
    read(mouse, event(pygame.MOUSEMOTION, (150, 5)))
    assert dialog.hover.mock_calls == [call(ROW)] and mouse.resting_on is None
    now[0] += window_events.REST_S + 0.01
    assert mouse.resting_on and mouse.resting_on.target == ROW
    read(mouse, event(pygame.MOUSEMOTION, (160, 5)))
    assert len(dialog.hover.mock_calls) == 1 and mouse.resting_on.at == (150, 5)
    for leaving in (pygame.Event(pygame.WINDOWLEAVE), event(pygame.MOUSEMOTION, (50, 5)),
                    event(pygame.MOUSEBUTTONDOWN, (150, 5), button=1)):
        read(mouse, event(pygame.MOUSEMOTION, (150, 5)))
        now[0] += window_events.REST_S + 0.01
        read(mouse, leaving)
        assert mouse.resting_on is None


@pytest.mark.quick
def test_losing_the_focus_releases_all_buttons(mouse: Mouse, program: MagicMock) -> None:
    read(mouse, event(pygame.MOUSEBUTTONDOWN, (150, 100), button=1))
    mouse.release_all()
    assert program.act.mock_calls == [call("pause")]
    read(mouse, event(pygame.MOUSEBUTTONDOWN, (10, 10), button=3))
    mouse.release_all()
    read(mouse, event(pygame.MOUSEMOTION, (20, 20)))
    assert not program.camera.mock_calls
