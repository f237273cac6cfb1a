"""`python -m crowd_demo` is `crowd-demo`."""

from crowd_demo.cli import command

command()
