# Each recipe calls a script, so that everything works without `just` too.

# List the recipes.
default:
    @just --list

# What a change must pass: format, lints, documentation, quick tests.
check *args:
    scripts/check {{args}}

# All tests (needs ffmpeg).
test *args:
    scripts/test {{args}}

# Tests that need more than cargo: without a name it lists them.
try *args:
    scripts/try {{args}}

# Build the program and make the sample film.
film *args:
    scripts/film {{args}}

# Accept what the program makes now: golden pictures, the pictures' version, snapshots, generated pages.
bless:
    scripts/bless

# Make the schema of scenes, and the reference of scenes and flags, of the program's declarations.
generate *args:
    scripts/generate {{args}}

# Render the pictures of the documentation: stills, looks, hero.
pictures *args:
    scripts/pictures {{args}}

# Make the PTX again after a change of kernels/ (no GPU needed).
ptx *args:
    scripts/ptx {{args}}

# Time the parts of the CPU renderer.
bench *args:
    cargo bench --bench cpu -- {{args}}

# Compare the instructions of this tree with those of the last version, or of a commit.
instructions *args:
    scripts/instructions {{args}}

# Licenses, sources, known faults and number of the dependencies.
supply *args:
    scripts/supply {{args}}

# Fuzz everything that reads foreign bytes.
fuzz *args:
    scripts/fuzz {{args}}

# The program for Windows, tried under Wine.
windows *args:
    scripts/windows {{args}}

# The program for macOS.
macos *args:
    scripts/macos {{args}}

# The page that renders in a browser.
web *args:
    scripts/web {{args}}

# What is handed out, in dist/: all of it, or the steps that are named.
release *args:
    scripts/release {{args}}

# Everything that must hold on main, on a Debian machine.
ci:
    .ci/run
