"""The step on a graphics card: its kernels, and the stages that launch them."""
