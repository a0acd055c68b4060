"""A headless Chromium that opens a report from disk, with every network address unreachable.

``python -m tests.insight.report.browser REPORT.html FOLDER`` takes screenshots of every
section, and with ``PICTURE.png`` in the place of the folder the one picture of docs/report.md.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


class Page:
    """A report in a browser."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file and wait until its script is through."""
        wishes = {"prefers-color-scheme": "dark" if dark else "light"}
        wishes["prefers-reduced-motion"] = "reduce"
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(path.absolute().as_uri())
        self.wait("return document.documentElement.dataset.ready !== undefined")

    def script(self, source: str, *values: Any) -> Any:
        """What a piece of JavaScript returns."""
        return self.driver.execute_script(source, *values)

    def wait(self, source: str) -> None:
        """Until a piece of JavaScript returns true."""
        WebDriverWait(self.driver, 20).until(lambda _: self.script(source))

    def find(self, selector: str) -> WebElement:
        """The first element of a CSS selector."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """The text that an element shows."""
        return self.find(selector).text

    def errors(self) -> list[str]:
        """Console messages since the last call that warn or worse."""
        logged: list[dict[str, Any]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [entry["message"] for entry in logged if not _of_the_test(entry["message"])]

    def opened_in(self) -> float:
        """Seconds from the start of loading until the page could be used."""
        return int(self.script("return document.documentElement.dataset.ready")) / 1000

    def pixels(self, selector: str) -> bytes:
        """An element as PNG, once it looks the same twice in a row."""
        last = b""
        for _ in range(20):
            now: bytes = self.find(selector).screenshot_as_png
            if now == last:
                break
            last = now
            time.sleep(0.2)
        return last

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a select element."""
        Select(self.find(selector)).select_by_value(value)

    def screenshot(self, path: Path) -> None:
        """The window as a PNG file."""
        time.sleep(0.5)
        self.driver.save_screenshot(str(path))


def _of_the_test(message: str) -> bool:
    """Whether a console message is about rendering without a graphics card."""
    return "GPU stall due to ReadPixels" in message or "software WebGL" in message


@contextmanager
def chromium() -> Iterator[Page]:
    """A browser; skips the test where there is none."""
    browser, server = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or server is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium-driver)")
    options = Options()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "WARNING"})
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options, Service(server))
        try:
            yield Page(driver)
        finally:
            driver.quit()


def take_picture(report: Path, path: Path) -> None:
    """The explorer, in few enough colours for a page of documentation."""
    from PIL import Image

    with chromium() as page:
        page.open(report, height=860)
        page.script("document.getElementById('explorer').scrollIntoView()")
        page.screenshot(path)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def take_screenshots(report: Path, folder: Path) -> None:
    """Every section, light and dark, on a wide and on a narrow screen."""
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as page:
        for dark in (False, True):
            for width in (1280, 400):
                page.open(report, width=width, dark=dark)
                for section in ("summary", "explorer", "learned", "training", "confusion"):
                    page.script("document.getElementById(arguments[0]).scrollIntoView()", section)
                    name = f"{section}-{width}-{'dark' if dark else 'light'}.png"
                    page.screenshot(folder / name)
        print("\n".join(page.errors()) or "no message on the console")


if __name__ == "__main__":
    take = take_picture if sys.argv[2].endswith(".png") else take_screenshots
    take(Path(sys.argv[1]), Path(sys.argv[2]))
