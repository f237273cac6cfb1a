"""The one way to measure: arms take turns in random order, and medians are compared with their intervals.

    arm            what can run a block of steps: a crowd (crowd), another process (benchmarks/)
    schedule       runs the blocks of all arms, in turns, for as long as the caller asks for the next
    statistics     medians, bootstrap intervals and verdicts, of plain arrays
    comparison     what the blocks of several arms say
    record         the same as JSON, with a version; machine

docs/design/measuring.md says why it is done this way.
"""
