"""Open reports in headless Chromium with the network blocked: requests, console, screenshots.

    python benchmarks/report_in_browser.py REPORT.html… --folder screenshots --chromium PATH

Needs the package `playwright` and a Chromium; neither is needed by holdfast.
"""

import argparse
import sys
from pathlib import Path

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


def look(browser, page_file, name, size, folder):
    width, height = size
    viewport = {"width": width, "height": height}
    context = browser.new_context(viewport=viewport, offline=True)
    page, requests, messages = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(page_file.resolve().as_uri())
    page.wait_for_timeout(300)
    picture = folder / f"{page_file.stem}-{name}.png"
    page.screenshot(path=picture, full_page=True)
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if name == "desktop":
        page.pdf(path=folder / f"{page_file.stem}.pdf")
    context.close()
    others = [url for url in requests if url != page_file.resolve().as_uri()]
    print(
        f"{page_file.name} {name}: {len(others)} requests beside the file, {len(messages)} console "
        f"messages, {max(overflow, 0)} px wider than the screen; {picture}"
    )
    return not others and not messages and overflow <= 0


def main():
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("."))
    parser.add_argument("--chromium", default=None, help="path of the browser")
    options = parser.parse_args()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        fine = [
            look(browser, report, name, size, options.folder)
            for report in options.reports
            for name, size in SIZES.items()
        ]
        browser.close()
    sys.exit(not all(fine))


if __name__ == "__main__":
    main()
