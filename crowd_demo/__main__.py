"""`python -m crowd_demo` is `crowd-demo`."""

import sys

from crowd_demo.cli import main

sys.exit(main())
