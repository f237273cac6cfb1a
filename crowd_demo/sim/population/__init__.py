"""Who is in the crowd, and who is tied to whom: births, deaths, first positions, links."""
