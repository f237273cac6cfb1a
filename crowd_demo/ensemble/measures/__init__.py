"""What can be measured about a run, in the order of the registry (registry/measures.py): people, places, everybody.

A measure reads a simulation between two steps and changes nothing. It adds up in the order of ids, so that neither the order
in memory nor the number of threads can change its number.
"""
