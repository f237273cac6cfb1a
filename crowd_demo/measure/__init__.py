"""The one way to measure: arms take turns in random order, and medians are compared with their intervals.

    arm            one of the things that are compared; it runs blocks of steps: a crowd (crowd), another process (benchmarks/)
    schedule       runs the blocks of all arms, in turns, for as long as the caller asks for the next block
    statistics     medians, bootstrap intervals and verdicts, of plain arrays
    comparison     the results of all arms, computed from their blocks
    before_after   where arms cannot take turns: the times before a switch and those after it
    proof/         whether a switch left the crowd as it was, shown beside the running crowd
    record         results as JSON, with a version and a description of the machine (machine)

Experiments (experiment.py) take many seconds. They run in short slices, so they can be stopped at any time; the results so far
remain:

    measurement    one technique's present value against another value
    ablation       each technique switched off in turn
    largest        the largest crowd at 60 frames a second, by search, on each rung of a ladder

    three_crowds   the crowds that the first two compare: two with the present techniques, one with others
    tables, text   results as text for the terminal and the window

docs/design/measuring.md says why it is done this way.
"""
