"""Count what makes the source large, and fail where a count is above its limit: `python .ci/count_code.py`.

Statements are those of the syntax tree, so how lines are broken does not matter.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
SHORT, LONG = 60, 120  # lines of a file; characters of a line
LIMITS = {
    "statements": 34_531,
    "files": 238,
    f"files below {SHORT} lines": 39,
    "names of more than one class": 3,
    f"lines above {LONG} characters": 1_092,
    "lines of the median function": 5,
}


def counts() -> dict[str, float]:
    """Return the counts of the package, by the names of `LIMITS`."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "crowd_demo").rglob("*.py"))]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    lines = [text.splitlines() for text in texts]
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    functions = [node.end_lineno - node.lineno + 1 for node in nodes if isinstance(node, ast.FunctionDef) and node.end_lineno]
    found = (sum(isinstance(node, ast.stmt) for node in nodes), len(texts), sum(len(each) < SHORT for each in lines),
             sum(number > 1 for number in classes.values()), sum(len(line) > LONG for each in lines for line in each),
             median(functions))
    return dict(zip(LIMITS, found, strict=True))


def main() -> int:
    found = counts()
    for name, count in found.items():
        print(f"{name:32}{count:8,.0f}  at most {LIMITS[name]:,}{'' if count <= LIMITS[name] else '  TOO MANY'}")
    return int(any(count > LIMITS[name] for name, count in found.items()))


if __name__ == "__main__":
    sys.exit(main())
