"""A package as a user would write it: one toy of each kind, registered through the entry point group `crowd_demo`."""
