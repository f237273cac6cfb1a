"""Kernels that a distribution brings are used where they fit, and give the same crowd; elsewhere kernels are compiled."""

import hashlib
import os
import platform
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numba
import pytest
from llvmlite import binding

from crowd_demo.compute import cache
from crowd_demo.compute.cache import V3, V4
from crowd_demo.registry import plugins
from crowd_demo.version import __version__

ROOT = Path(__file__).parents[2]
Patch = pytest.MonkeyPatch


# --- when they fit ---------------------------------------------------------------------------------------------------

@pytest.fixture
def folder(tmp_path: Path, monkeypatch: Patch) -> Path:
    """An installed distribution whose kernels fit, and a processor that has all levels."""
    for name in ("CROWD_DEMO_KERNELS", "CROWD_DEMO_PLAIN_NUMBA"):
        monkeypatch.delenv(name, raising=False)
    for name in cache.PROCESSOR:
        monkeypatch.setattr(numba.config, name, None)
    monkeypatch.setattr(cache, "levels", cache.levels.__wrapped__)
    monkeypatch.setattr(cache, "_sources_hash", cache._sources_hash.__wrapped__)
    monkeypatch.setattr(plugins, "sources", lambda: ())
    has(V4)(monkeypatch)
    package = tmp_path / cache.INSTALLED
    made = package / cache.portable_fingerprint()
    made.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return made


def has(features: frozenset[str]) -> Callable[[Patch], None]:
    """A processor with these features."""
    return lambda patch: patch.setattr(binding, "get_host_cpu_features", lambda: dict.fromkeys(V4, False)
                                       | dict.fromkeys(features, True))


def another_source(patch: Patch) -> None:
    path, source = next(iter(cache.kernel_sources().items()))
    patch.setattr(cache, "kernel_sources", lambda: {path: source + b"#"})


def a_plugin(patch: Patch) -> None:
    patch.setattr(plugins, "sources", lambda: (Path(__file__),))


OTHERWISE: dict[str, Callable[[Patch], None]] = {
    "another version of Numba": lambda patch: patch.setattr(numba, "__version__", "0.0"),
    "another version of llvmlite": lambda patch: patch.setattr("llvmlite.__version__", "0.0"),
    "another version of NumPy": lambda patch: patch.setattr("numpy.__version__", "0.0"),
    "another version of Python": lambda patch: patch.setattr("sysconfig.get_config_var", lambda name: ".cpython-399.so"),
    "another source": another_source,
    "a plugin": a_plugin,
    "a setting of Numba": lambda patch: patch.setattr(numba.config, "OPT", 1),
    "another processor for Numba": lambda patch: patch.setattr(numba.config, "CPU_NAME", "haswell"),
    "other features for Numba": lambda patch: patch.setattr(numba.config, "CPU_FEATURES", ""),
    "too low a level": has(V3 - {"fma"}),
    "kernels by public names of Numba": lambda patch: patch.setenv("CROWD_DEMO_PLAIN_NUMBA", "1"),
    "none asked for": lambda patch: patch.setenv("CROWD_DEMO_KERNELS", "none"),
}


@pytest.mark.quick
def test_kernels_that_fit_are_found(folder: Path) -> None:
    assert cache.installed_folder.__wrapped__() == folder


@pytest.mark.quick
@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_kernels_that_do_not_fit_are_passed_over_without_a_word(folder: Path, monkeypatch: Patch, otherwise: str,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    OTHERWISE[otherwise](monkeypatch)
    assert cache.installed_folder.__wrapped__() is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.quick
def test_what_changes_no_code_changes_no_choice(folder: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 7)
    monkeypatch.setattr(sys, "version", "3.99 of another day")
    assert cache.installed_folder.__wrapped__() == folder


@pytest.mark.quick
@pytest.mark.parametrize(("features", "asked", "found"), [
    (V4, "", ("x86-64-v4", "x86-64-v3")), (V4 - {"avx512dq"}, "", ("x86-64-v3",)), (V3, "x86-64-v4", ("x86-64-v3",)),
    (V4, "x86-64-v3", ("x86-64-v3",)), (V3 - {"movbe"}, "", ()), (V4, "none", ())])
def test_a_processor_has_the_levels_of_which_no_feature_is_missing(folder: Path, monkeypatch: Patch, features: frozenset[str],
                                                                  asked: str, found: tuple[str, ...]) -> None:
    has(features)(monkeypatch)
    monkeypatch.setenv("CROWD_DEMO_KERNELS", asked)
    assert cache.levels() == found


@pytest.mark.quick
def test_a_level_that_does_not_exist_is_said(folder: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("crowd_demo.registry.texts._said", set())
    monkeypatch.setenv("CROWD_DEMO_KERNELS", "avx2")
    assert cache.installed_folder.__wrapped__() is None and cache.levels() == ()
    assert capsys.readouterr().err == ("crowd-demo: CROWD_DEMO_KERNELS must be x86-64-v4, x86-64-v3 or none, not 'avx2': "
                                       "no installed kernels are used\n")


@pytest.mark.quick
def test_no_start_is_the_first_one_where_kernels_are_installed(folder: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("CROWD_DEMO_CACHE", str(tmp_path / "empty"))
    for function in ("folder", "installed_folder"):
        monkeypatch.setattr(cache, function, getattr(cache, function).__wrapped__)
    assert not cache.is_first_start() and not cache.is_empty()
    monkeypatch.setenv("CROWD_DEMO_KERNELS", "none")
    assert cache.is_first_start() and cache.is_empty()


@pytest.mark.quick
def test_a_folder_of_that_name_is_no_distribution(folder: Path) -> None:
    (folder.parent / "__init__.py").unlink()
    assert cache.installed_folder.__wrapped__() is None


# --- what they do ----------------------------------------------------------------------------------------------------

LEVEL = "x86-64-v3"
CONFIG = "{agents: 200, optimizations: {neighbours: none}}"
STEPS = """
import sys
from crowd_demo.compute import cache
from crowd_demo.config.loader import load_config
from crowd_demo.sim.simulation import Simulation

first = cache.is_first_start()
sim = Simulation(load_config(sys.argv[1]))
sim.step(20)
print(sim.state_hash(), first, len(list(cache.user_cache().rglob("*.kernel.*.nbc"))))
"""
FEATURES = binding.get_host_cpu_features() if platform.machine() in ("x86_64", "AMD64") else {}
here = pytest.mark.skipif(not all(FEATURES.get(name) for name in V3), reason="a processor without the level")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A distribution with the kernels of a step of one small crowd."""
    out = tmp_path_factory.mktemp("wheel")
    (out / "small.yaml").write_text(CONFIG, "utf-8")
    subprocess.run([sys.executable, ROOT / "tools/build_kernels.py", "--out", out, "--level", LEVEL, "--steps-only",
                    out / "small.yaml"], env=environment(), check=True, cwd=ROOT)
    (built,) = out.glob("*.whl")
    return built


def environment(*paths: Path, **variables: str) -> dict[str, str]:
    """Without what chooses a processor for Numba, as other tests may do."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CPU")}
    found = [*map(str, paths), str(ROOT), *filter(None, [inherited.get("PYTHONPATH")])]
    return {**inherited, "CROWD_DEMO_PLAIN_NUMBA": "", "PYTHONPATH": os.pathsep.join(found), **variables}


def steps(config: Path, *paths: Path, **variables: str) -> tuple[str, bool, int, str]:
    """The crowd after some steps; was it the first start, how many kernels were kept, and what was said?"""
    done = subprocess.run([sys.executable, "-c", STEPS, config], env=environment(*paths, **variables), check=True,
                          capture_output=True, encoding="utf-8")
    found, first, kept = done.stdout.splitlines()[-1].split()
    return found, first == "True", int(kept), done.stderr


def contents(root: Path) -> dict[Path, str]:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(root.rglob("*")) if path.is_file()}


@here
@pytest.mark.slow
def test_a_distribution_installed_elsewhere_is_used_and_gives_the_same_crowd(wheel: Path, tmp_path: Path) -> None:
    site, small = tmp_path / "site", wheel.parent / "small.yaml"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile", "--target", site,
                    wheel], check=True)
    compiled = steps(small, CROWD_DEMO_KERNELS="none")[0]
    before = contents(site)
    assert len([path for path in before if path.match(cache.KERNEL_FILES)]) > 10
    assert steps(small, site, CROWD_DEMO_CACHE=str(tmp_path / "empty")) == (compiled, False, 0, ""), "nothing is compiled"

    one = next(path for path in before if path.name.startswith("steering.move_lanes"))
    content = one.read_bytes()
    one.chmod(0o644)
    one.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    damaged = contents(site)
    found, first, kept, said = steps(small, site, CROWD_DEMO_CACHE=str(tmp_path / "cache"))
    assert (found, first, kept) == (compiled, False, 1), "the damaged one is compiled, and kept in the user's folder"
    assert said.startswith(f"crowd-demo: a damaged file in {site}") and said.count("\n") == 1
    assert steps(small, site, CROWD_DEMO_CACHE=str(tmp_path / "cache")) == (compiled, False, 1, ""), "the user's come first"
    assert contents(site) == damaged, "what was installed is never written"


@here
@pytest.mark.slow
def test_a_distribution_pins_what_its_kernels_depend_on(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA"))
        kernels = [archive.read(name) for name in archive.namelist() if name.endswith(".nbc")]
    major, minor, *_ = sys.version_info
    for line in (f"Requires-Dist: crowd-demo=={__version__}", f"Requires-Python: =={major}.{minor}.*",
                 *(f"Requires-Dist: {name}=={version(name)}" for name in ("numba", "llvmlite", "numpy"))):
        assert line in metadata.splitlines()
    assert kernels and not any(str(ROOT).encode() in kernel for kernel in kernels), "no path of the machine that built it"
