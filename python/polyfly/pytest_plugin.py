"""A fixture of pytest that compares frames with golden hashes: `polyfly_golden`. `pytest --polyfly-bless` writes them."""

import pathlib

import pytest


def pytest_addoption(parser):
    parser.getgroup("polyfly").addoption("--polyfly-bless", action="store_true", help="write the golden hashes of polyfly_golden")


@pytest.fixture
def polyfly_golden(request):
    """Checks frames of a scene against `golden/NAME.txt` beside the test: polyfly_golden(scene, "0,10-12", name="cube", size=(160, 120))."""
    import polyfly

    def check(scene, frames=None, *, name=None, **options):
        path = pathlib.Path(request.path).parent / "golden" / f"{name or request.node.name}.txt"
        bless = request.config.getoption("--polyfly-bless")
        if bless:
            path.parent.mkdir(exist_ok=True)
        wrong = polyfly.Renderer(scene, **options).golden(path, frames=frames, bless=bless)
        assert not wrong, f"frames {sorted(wrong)} of {path.name} have other pixels; after a look at them: pytest --polyfly-bless"

    return check
