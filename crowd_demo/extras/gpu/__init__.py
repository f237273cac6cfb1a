"""The GPU backend: the step of birds and people, and the light picture, on an NVIDIA card."""
