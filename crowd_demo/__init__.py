"""An interactive crowd of up to a million agents in which every data-oriented optimisation is a live switch."""

__version__ = "0.1.0"
