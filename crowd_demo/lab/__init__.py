"""What the experiments of the command line measure: `crowd-demo sweep`, `layout`, `memory`."""
