"""The one way to measure: variants take turns in random order, and medians are compared with their intervals.

    comparison         the interleaved blocks of all variants, as long as the caller asks for the next one, and their results
    statistics         medians, bootstrap intervals and verdicts, of plain arrays; also of times before a switch and after it
    proof              a crowd as a variant, as another process is (benchmarks/); whether a switch left it as it was

Experiments (experiment.py, also for records in JSON) take many seconds. They run in short slices, so they can be
stopped at any time; the results so far remain:

    ablation           one technique's present value against another value; each technique switched off in turn
    largest            the largest crowd at 60 frames per second, by search, on each rung of a ladder

docs/measuring.md says why it is done this way.
"""
