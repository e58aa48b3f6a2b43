"""Flythroughs of mirrored polyhedra as numpy arrays, byte for byte the same on every device."""

from ._polyfly import Renderer, Scene, __version__, check, render, render_linear, run

__all__ = ["Renderer", "Scene", "__version__", "check", "render", "render_linear", "run"]
