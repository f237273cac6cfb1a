"""What differs between two configurations, key by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def differences(before: Mapping[str, object], after: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield (dotted path, value in `after`) of each value of two dumped configurations that is another one."""
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            yield from differences(old, value, f"{prefix}{key}.")
        elif value != old:
            yield f"{prefix}{key}", value
