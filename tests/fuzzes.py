"""How many damaged files of a format tests read: a few, or as many as CROWD_DEMO_FUZZ says (500 before a release)."""

import os

FILES = int(os.environ.get("CROWD_DEMO_FUZZ", "30"))
SEED = 29
