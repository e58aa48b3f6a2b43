"""Flythroughs of mirrored polyhedra as numpy arrays, byte for byte the same on every device."""

from ._polyfly import Renderer, Scene, __version__, check, run
from .particles import Figure, Particles, film, show

__all__ = ["Figure", "Particles", "Renderer", "Scene", "__version__", "check", "film", "render", "render_linear", "run", "show"]


def render(scene, frame=0, *, size=None, samples=None, device="auto", threads=0):
    """A frame as it is shown: an array of uint8, (height, width, 3); (height, width, 4) with straight alpha where the sky is transparent."""
    return Renderer(scene, size=size, samples=samples, device=device, threads=threads).render(frame)


def render_linear(scene, frame=0, *, size=None, samples=None, device="auto", threads=0):
    """A frame in linear light, before the tone curve: an array of float32, (height, width, 3)."""
    return Renderer(scene, size=size, samples=samples, device=device, threads=threads).render_linear(frame)
