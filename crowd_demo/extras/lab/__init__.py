"""What only the command line measures: `crowd-demo sweep`, `motion`, `flocks`, `layout`, `memory`, `validate`."""
