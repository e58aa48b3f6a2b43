"""Flythroughs of mirrored polyhedra as numpy arrays, byte for byte the same on every device."""

from ._polyfly import __version__, check, render, render_linear

__all__ = ["__version__", "check", "render", "render_linear"]
