"""Tours: pages that set something up, measure, and tell what was found."""
