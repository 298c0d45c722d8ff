"""The site in a browser, as wide as a screen and as a phone: nothing is cut off, pictures enlarge, the search works."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
HARNESS = """<!doctype html><meta charset="utf-8"><body><pre id="result"></pre><script>{script}</script><script>
check({pages}).catch((error) => {{ document.getElementById("result").textContent = String(error.stack); }});
</script>
"""
SECONDS = 400  # of the browser's own clock, which stands still while nothing is waited for


def seen(folder, pages, profile):
    """What the browser finds on these pages of the site in `folder`."""
    script = (HERE / "browser_check.js").read_text(encoding="utf-8")
    harness = folder / "browser_check.html"
    harness.write_text(HARNESS.format(script=script, pages=json.dumps(pages)), encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
    options += [f"--user-data-dir={profile}", "--window-size=1400,1000", f"--virtual-time-budget={1000 * SECONDS}"]
    try:
        done = subprocess.run([BROWSER, *options, harness.as_uri()], capture_output=True, text=True, timeout=900)
    finally:
        harness.unlink()
    text = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text, done.stderr[-2000:]
    assert text[1].startswith("{"), text[1]
    return json.loads(unescape(text[1]))


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="needs a browser (Debian: apt install chromium)")
def test_the_site_in_a_browser(site, tmp_path):
    pages = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))
    pages = [page for page in pages if not page.startswith("_") and page not in ("search.html", "genindex.html")]
    found = seen(site, pages, tmp_path / "profile")
    assert found["faults"] == []
    assert found["pages"] == len(pages)
    assert found["formulas"] > 50
    assert found["thumbnails"] == found["pictures"] > 80
    assert found["enlarged"]
    assert found["closed"]
    assert found["results"] == found["excerpts"] > 10
    assert "ridge" in found["about"].lower()
