"""A page in a process of its own, and Debian's Chromium to look at it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
QUIET = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --disable-default-apps --disable-extensions"
)


@dataclass
class Served:
    """A running page."""

    process: "subprocess.Popen[str]"
    address: str
    """Opens it once."""
    rest: str = ""
    """What it printed that nobody has read, once it is stopped."""

    @property
    def root(self) -> str:
        return self.address.partition("/?")[0]

    def next_address(self) -> str:
        """The address that is printed after one was used."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def stop(self, by: int = signal.SIGTERM) -> int:
        self.process.send_signal(by)
        code = self.process.wait(60)
        assert self.process.stdout is not None
        self.rest = self.process.stdout.read()
        self.process.stdout.close()
        return code


def _heeds_interrupts() -> None:
    """A shell has interrupts ignored in what it starts in the background, tests among it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def serve(folder: Path, private: Path, *words: str) -> Served:
    """`holdfast page` on a folder; what it keeps goes into another."""
    private.mkdir(exist_ok=True, mode=0o700)
    command = [sys.executable, "-m", "holdfast", "page", "--no-open", "--folder", str(folder)]
    process = subprocess.Popen(
        [*command, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=_heeds_interrupts,
        env=os.environ | {"XDG_RUNTIME_DIR": str(private), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if re.match(r"http://127\.0\.0\.1:\d+/\?token=", line):
            return Served(process, line.strip())
    raise AssertionError("the page did not start")


@contextmanager
def browser(*, script: bool = True, width: int = 1100, dark: bool = False) -> Iterator[Any]:
    """Chromium, which keeps a log of every address that it asks for."""
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    with tempfile.TemporaryDirectory() as profile:
        for word in (*QUIET.split(), f"--user-data-dir={profile}", "--window-size=1100,900"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        if not script:
            key = "profile.managed_default_content_settings.javascript"
            options.add_experimental_option("prefs", {key: 2})
        driver = Chrome(options=options, service=ChromeService(str(DRIVER)))
        driver.implicitly_wait(15)
        try:
            look(driver, width=width, dark=dark)
            yield driver
        finally:
            driver.quit()


def look(driver: Any, *, width: int = 1100, dark: bool = False) -> None:
    """Make a browser so wide, and light or dark."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
