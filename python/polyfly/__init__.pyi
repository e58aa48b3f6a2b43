from os import PathLike
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

class Fault(TypedDict):
    line: int
    column: int
    what: str
    expected: str
    help: str | None

Device = Literal["cpu", "gpu", "auto"]

def render(
    scene: str | PathLike[str],
    frame: int = 0,
    *,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    device: Device = "cpu",
    threads: int = 0,
) -> NDArray[np.uint8]:
    """A frame as it is shown: (height, width, 3); (height, width, 4) with straight alpha where the sky is transparent."""

def render_linear(
    scene: str | PathLike[str],
    frame: int = 0,
    *,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    device: Device = "cpu",
    threads: int = 0,
) -> NDArray[np.float32]:
    """A frame in linear light, before the tone curve: (height, width, 3)."""

def check(scene: str | PathLike[str]) -> list[Fault]:
    """What is wrong with a scene's text, each with its place; empty where nothing is."""
