"""Whether a switch left the crowd, or the picture, as it was: shown beside a running crowd, a part at a time.

    twins       two copies take the same steps, with the old values and with the new ones
    answers     where a step is too long for that: the pushes on 256 agents, from the same positions
    pictures    for techniques of drawing: the same view, drawn both ways
    apart       how far two crowds have come apart, and the hash of one
    finding     what all of them tell

Each has `parts`, a generator that does the work and yields after a kernel or so: whoever wants to stop, stops asking for the
next part. All parts belong to the thread that makes the steps. docs/design/proof.md says what is proved and what is not.
"""
