"""The claims, in the order of the report. An experiment is a `Claim` of a file of this folder, and its name here."""

from __future__ import annotations

from crowd_demo.extras.lab.claims.claim import Claim
from crowd_demo.extras.lab.claims.experiments import against_c, memory, peers, pictures, techniques

CLAIMS: dict[str, Claim] = {claim.name: claim for claim in (
    techniques.LADDER, techniques.SORT_INTERVAL, techniques.CURVES, memory.SORTED_MEMORY, memory.REMOVAL, memory.SPARSE_MEMORY,
    techniques.STRUCTURES, techniques.STAGGER, pictures.DEPTH, pictures.CULLING, pictures.BLITTERS, techniques.LIMITS,
    techniques.CONTACT, memory.LAYOUT, techniques.SCALING, techniques.DENSITY, peers.PEERS, against_c.CLAIM)}
