"""Count `Any` in host code: `python tests/count_any.py [FOLDER] [--files]`.

Host code is everything but the functions that Numba compiles: those under `device`, `kernel`, `generic`, `implements`,
`overload`, `intrinsic` and their like, whose arguments are Numba's business. Imports do not count.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

COMPILED = {"device", "formula", "kernel", "generic", "implements", "overload", "intrinsic", "_intrinsic", "register_model",
            "lower_builtin", "infer_global"}
PACKAGE = Path(__file__).parents[1] / "crowd_demo"


def is_compiled(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    names = (getattr(decorator, "func", decorator) for decorator in decorators)
    return any(getattr(name, "id", getattr(name, "attr", "")) in COMPILED for name in names)


def host_lines(node: ast.AST) -> Iterator[int]:
    """The lines on which host code says `Any`, one entry for each time."""
    for child in ast.iter_child_nodes(node):
        if is_compiled(child):
            continue
        if isinstance(child, ast.Name) and child.id == "Any":
            yield child.lineno
        yield from host_lines(child)


def count(folder: Path = PACKAGE) -> dict[Path, int]:
    """By file; files without any are left out. compute/arrays.py gives kernels their names for it, and does not count."""
    found = {path: len(list(host_lines(ast.parse(path.read_text("utf-8"))))) for path in sorted(folder.rglob("*.py"))
             if path.parts[-2:] != ("compute", "arrays.py")}
    return {path: number for path, number in found.items() if number}


if __name__ == "__main__":
    by_file = count(Path(sys.argv[1]) if len(sys.argv) > 1 and not sys.argv[1].startswith("--") else PACKAGE)
    if "--files" in sys.argv:
        for path, number in by_file.items():
            print(f"{number:4} {path}")
    print(sum(by_file.values()))
