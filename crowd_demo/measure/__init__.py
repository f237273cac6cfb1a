"""The one way to measure: arms take turns in random order, and medians are compared with their intervals.

    arm            what can run a block of steps: a crowd (crowd), another process (benchmarks/)
    schedule       runs the blocks of all arms, in turns, for as long as the caller asks for the next
    statistics     medians, bootstrap intervals and verdicts, of plain arrays
    comparison     what the blocks of several arms say
    before_after   where arms cannot take turns: the times before a switch and those after it
    proof/         whether a switch left the crowd as it was, shown beside the running crowd
    record         the same as JSON, with a version; machine

Experiments (experiment.py) take many seconds, in slices, and can be left at any time with what they have found:

    measurement    one technique's present value against another, with the crowd as it is
    ablation       each technique off in turn
    largest        the largest crowd at 60 frames a second, by search, on each rung of a ladder

    three_crowds   what the first two measure: the crowd as it is, twice, and the same with other techniques
    tables, text   what was found, as text for the terminal and the window

docs/design/measuring.md says why it is done this way.
"""
