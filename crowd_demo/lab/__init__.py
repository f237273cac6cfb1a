"""Experiments, each a command: `python -m crowd_demo.lab.sweep`, `.memory`, `.layout`."""
