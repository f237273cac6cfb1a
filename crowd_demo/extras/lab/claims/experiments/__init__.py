"""The claims, in the order of the report. An experiment is a file of this folder, and a line here."""

from __future__ import annotations

from crowd_demo.extras.lab.claims.claim import Claim
from crowd_demo.extras.lab.claims.experiments import (
    against_c,
    blitters,
    contact,
    culling,
    curves,
    density,
    depth,
    ladder,
    layout,
    limits,
    peers,
    removal,
    scaling,
    sort_interval,
    sorted_memory,
    sparse_memory,
    stagger,
    structures,
)

CLAIMS: dict[str, Claim] = {module.CLAIM.name: module.CLAIM for module in (
    ladder, sort_interval, curves, sorted_memory, removal, sparse_memory, structures, stagger, depth, culling, blitters,
    limits, contact, layout, scaling, density, peers, against_c)}
