from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

Device = Literal["cpu", "gpu", "auto"]
Frames = str | Sequence[int]
"""Frame numbers, or a list as the program takes it: `"0-99x5,last"`."""

Progress = Callable[[int, int, int], Any]
"""Called as `progress(frame, done, total)` after each frame. An exception stops the run and is raised."""

PictureSink = Callable[[int, NDArray[np.uint8]], Any]
"""Called as `sink(frame, picture)`, in order."""

class Fault(TypedDict):
    line: int
    column: int
    what: str
    expected: str
    help: str | None

class Layers(TypedDict):
    color: NDArray[np.float32]
    albedo: NDArray[np.float32]
    normal: NDArray[np.float32]
    depth: NDArray[np.float32]
    coverage: NDArray[np.float32]
    samples: NDArray[np.float32]

class Report(TypedDict):
    frames: int
    skipped: int
    seconds: float
    files: list[PathLike[str]]
    devices: list[str]

class Scene:
    """What is seen, from where, and how it is rendered."""

    size: tuple[int, int]
    frames: int
    fps: float

    def __init__(
        self, source: Scene | str | PathLike[str], *, size: tuple[int, int] | None = None, samples: int | None = None
    ) -> None:
        """A scene of a file's name, or of a text of several lines; in TOML or tokens."""
    @staticmethod
    def load(path: str | PathLike[str]) -> Scene: ...
    @staticmethod
    def parse(text: str, *, folder: str | PathLike[str] = "") -> Scene: ...
    @staticmethod
    def sample() -> Scene: ...
    def set(self, key: str, value: float | int | bool | str | Sequence[Any]) -> None:
        """Changes one key: `scene.set("film.exposure", 0.5)`, `scene.set("body[0].color", "tomato")`."""
    def to_toml(self) -> str: ...
    def copy(self) -> Scene: ...

class Renderer:
    """A scene that is ready to be rendered: its files are read once, and devices stay ready between frames."""

    scene: Scene

    def __init__(
        self,
        scene: Scene | str | PathLike[str],
        *,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        device: Device = "auto",
        threads: int = 0,
        particles: Any = None,
    ) -> None: ...
    def render(self, frame: int = 0) -> NDArray[np.uint8]:
        """A frame as it is shown: (height, width, 3); (height, width, 4) with straight alpha where the sky is transparent."""
    def render_linear(self, frame: int = 0) -> NDArray[np.float32]:
        """A frame in linear light, before the tone curve: (height, width, 3)."""
    def layers(self, frame: int = 0) -> Layers:
        """Linear light, and what the first surfaces are: averages over each pixel's samples."""
    def encode(self, ending: str, frame: int = 0) -> bytes:
        """A frame as the bytes of a file: png, jpg, tif, exr, pdf or svg."""
    def golden(self, path: str | PathLike[str], *, frames: Frames | None = None, bless: bool = False) -> dict[int, str]:
        """The frames whose hashes differ from those in a list as `polyfly SCENE --hash` prints it; `bless` writes them there."""
    @property
    def color_map(self) -> tuple[tuple[float, float], Sequence[tuple[float, float, float]]] | None:
        """The values at the ends of the color map of particles, and its colors; None where no value selects the color."""
    def animate(
        self, *sinks: PictureSink | str | PathLike[str], frames: Frames | None = None, progress: Progress | None = None
    ) -> Report:
        """Renders frames into functions, files (`"out/%04d.png"`) and videos (`"clip.mp4"`). Existing files are replaced."""

class Particles:
    """One time step: positions (N, 3), radii, and values with names, (N,) or (N, 3)."""

    positions: NDArray[np.float64]
    radii: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64]]
    cell: Any
    periodic: Sequence[bool]
    time: float | None
    step: int | None

    def __init__(
        self,
        positions: Any,
        radius: Any = None,
        *,
        cell: Any = None,
        periodic: Sequence[bool] = (True, True, True),
        time: float | None = None,
        step: int | None = None,
        columns: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Arrays of numpy, or of what numpy and DLPack can read. Without `radius` a column radius or diameter has the radii."""
    def __len__(self) -> int: ...
    @classmethod
    def of(cls, given: Any, radius: Any = None, **columns: Any) -> Particles:
        """Particles of arrays, of a table (pandas, polars, pyarrow), or of what ASE, pyvista, OVITO and MDAnalysis hold."""

class Figure:
    """A figure of particles. In a notebook it shows itself."""

    scene: Scene

    def array(self, frame: int = 0) -> NDArray[np.uint8]:
        """The picture: (height, width, 3)."""
    def values(self, frame: int = 0) -> Layers:
        """What each pixel shows, as `Renderer.layers` has it."""
    def encode(self, ending: str = "png", frame: int = 0) -> bytes:
        """The bytes of a file: png, jpg, tif, pdf or svg."""
    def save(self, path: str | PathLike[str], frame: int = 0) -> None:
        """Writes the figure; the ending says how. A PDF and an SVG have the picture, and all else as text and lines."""
    @property
    def mappable(self) -> Any:
        """The color map for matplotlib's colorbar."""

def show(
    particles: Any,
    radius: Any = None,
    *,
    color: Any = None,
    label: str | None = None,
    shape: Any = None,
    orientation: Any = None,
    columns: dict[str, Any] | None = None,
    device: Device = "auto",
    threads: int = 0,
    **keys: Any,
) -> Figure:
    """A figure of particles: of arrays, of a table, of what ASE, pyvista, OVITO or MDAnalysis hold, or of a file.

    `color` is an array, the name of a column, or an expression of columns. `shape` is a solid's name, "capsule", "cylinder", or the corners (M, 3) of a convex body in
    the unit of the positions, which a radius scales; `orientation` has a quaternion for each particle, (N, 4): w, x, y, z. Other keywords
    are keys of `[figure]` and `[particles]`: `view="+x"`, `width="170 mm"`, `dpi=600`, `scale_bar="mm"`, `map="magma"`, `range=[0, 1]`, `bonds={"cutoff": 1}`, `arrows={"by": "v"}`, `trails={"steps": 20}`, `cut=[{"normal": [0, -1, 0]}]`; and any key of a scene with its table:
    `**{"render.samples": 9}`."""

def film(
    steps: Any,
    path: str | PathLike[str],
    *,
    color: str | None = None,
    label: str | None = None,
    radius: Any = None,
    fps: float = 30,
    frames: int | None = None,
    device: Device = "auto",
    threads: int = 0,
    progress: Progress | None = None,
    **keys: Any,
) -> Report:
    """A film of time steps into `path`, or pictures where its name has `%d`. `steps` is a sequence of what `show` takes, asked for one by one; an
    iterator, of which with `frames`, their number, a few are in memory at a time, and without it all; or the name of a series of files, or of a file
    with many steps, with `frames` as their number. Of an iterator the first step frames the picture and gives the range of the map."""

def render(
    scene: Scene | str | PathLike[str],
    frame: int = 0,
    *,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    device: Device = "auto",
    threads: int = 0,
) -> NDArray[np.uint8]:
    """One frame as it is shown; a `Renderer` is faster for several."""

def render_linear(
    scene: Scene | str | PathLike[str],
    frame: int = 0,
    *,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    device: Device = "auto",
    threads: int = 0,
) -> NDArray[np.float32]:
    """One frame in linear light, before the tone curve."""

def run(
    scene: Scene | str | PathLike[str],
    *,
    frames: Frames | None = None,
    output: str | PathLike[str] | None = None,
    video: str | PathLike[str] | None = None,
    encode: Literal["fast", "standard", "small"] | None = None,
    crf: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    device: Device = "auto",
    threads: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Renders a scene as the program does: into a folder with a manifest, and into a video if one is named.

    Existing frames are refused; `resume` keeps those that are whole and of this scene, `overwrite` renders them again."""

def check(scene: str | PathLike[str]) -> list[Fault]:
    """What is wrong with a scene's text, each fault with its place; empty if nothing is."""
