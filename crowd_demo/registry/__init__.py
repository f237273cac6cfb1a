"""What there is to choose from: techniques, behaviours, overlays, scenarios; the program's own and those of other packages."""
