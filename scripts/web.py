"""Puts the page of web/page and its WebAssembly into one file. Usage: scripts/web.py WASM PAGE"""

import base64
import gzip
import pathlib
import sys

# Bytes of the page as a server sends it.
LIMIT = 1_700_000

wasm, page = map(pathlib.Path, sys.argv[1:])
source = pathlib.Path(__file__).resolve().parent.parent / "web/page"
code = wasm.read_bytes()
packed = gzip.compress(code, 9, mtime=0)
parts = {
    "STYLE": (source / "style.css").read_text(),
    "WORKER": (source / "engine.js").read_text() + (source / "worker.js").read_text(),
    "PAGE": (source / "page.js").read_text(),
    "WASM": base64.b64encode(packed).decode(),
}
text = (source / "page.html").read_text()
for name, part in parts.items():
    assert text.count(f"@{name}@") == 1 and "</script" not in part, name
    text = text.replace(f"@{name}@", part)
page.parent.mkdir(parents=True, exist_ok=True)
page.write_text(text)
sent = len(gzip.compress(text.encode(), 9))
print(f"{page}: {len(text):,} bytes, {sent:,} packed; WebAssembly {len(code):,}, {len(packed):,} packed")
if sent > LIMIT:
    sys.exit(f"the packed page has more than {LIMIT:,} bytes")
