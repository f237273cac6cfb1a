"""`crowd-demo lab`: claims of the documents that this program answers to, put to the test on this machine.

An experiment (an entry of `CLAIMS`) is a `Claim`: who says what, the cases in which that is tried, and what decides. A
`LabRun` measures the cases in interleaved blocks, by `crowd_demo.measure`; `claim` makes verdicts and warnings of what
was found; `results` keeps it as JSON, and makes the report of it.
"""
