"""Check that no page of the built documentation is wider than a phone.

    python docs/_make/check_widths.py [--width 400] [--built docs/_build/html]

Chromium opens every page in a frame of that width. A page is too wide if it can be
scrolled sideways; wide tables, code and formulas scroll in boxes of their own. The
script names the pages that are too wide, each with the first elements that stick out.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILT = Path(__file__).resolve().parents[1] / "_build" / "html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# What does not lie inside a box that scrolls on its own, and reaches beyond the page.
PROBE = """<!doctype html><title></title><pre id="found"></pre><script>
const width = WIDTH, pages = PAGES, found = {};
const boxed = node => {
  for (let at = node.parentElement; at; at = at.parentElement) {
    const how = at.ownerDocument.defaultView.getComputedStyle(at).overflowX;
    if (how !== "visible" && at.tagName !== "BODY" && at.tagName !== "HTML") return true;
  }
  return false;
};
const look = page => new Promise(done => {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.onload = () => {
    const root = frame.contentDocument.documentElement;
    if (root.scrollWidth > root.clientWidth + 1) {
      const out = [...root.querySelectorAll(".bd-article *, article *, main *")].filter(node =>
        node.getBoundingClientRect().right > width + 1 && !boxed(node));
      found[page] = [root.scrollWidth, out.slice(0, 4).map(node =>
        `${node.tagName.toLowerCase()}.${node.className}: ${node.textContent.slice(0, 40)}`)];
    }
    frame.remove();
    done();
  };
  frame.src = page;
  document.body.append(frame);
});
(async () => {
  for (const page of pages) await look(page);
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


def too_wide(built: Path, width: int, browser: str) -> dict[str, list]:
    """Return the width of each page that is too wide, and what sticks out."""
    pages = sorted(path.as_uri() for path in built.rglob("*.html") if "_static" not in path.parts)
    if not pages:
        raise SystemExit(f"{built} has no pages: run make docs first.")
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.html"
        text = PROBE.replace("WIDTH", str(width)).replace("PAGES", json.dumps(pages))
        probe.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--allow-file-access-from-files", f"--user-data-dir={Path(folder) / 'profile'}",
             "--window-size=1280,1000", "--virtual-time-budget=600000", "--dump-dom",
             probe.as_uri()],
            capture_output=True, text=True, check=True, timeout=900,
        )  # fmt: skip
    match = re.search(r'<pre id="found">(.+?)</pre>', done.stdout, re.DOTALL)
    if match is None:
        raise SystemExit("Chromium did not come to the end of the pages.")
    print(f"{len(pages)} pages at {width} pixels")
    return json.loads(html.unescape(match.group(1)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=400)
    parser.add_argument("--built", type=Path, default=BUILT)
    options = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"None of {', '.join(BROWSERS)} is installed.")
    found = too_wide(options.built.resolve(), options.width, browser)
    for page, (width, elements) in found.items():
        print(f"{page.partition(str(options.built))[2] or page}: {width} pixels")
        for element in elements:
            print(f"    {element!r}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
