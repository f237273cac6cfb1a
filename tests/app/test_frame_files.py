"""How many files of the program one frame runs through: what somebody has to read who follows it."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from driven import Driven

import crowd_demo
from crowd_demo.compute.jit import Kernel

ROOT = f"{Path(crowd_demo.__file__).parent}{os.sep}"
