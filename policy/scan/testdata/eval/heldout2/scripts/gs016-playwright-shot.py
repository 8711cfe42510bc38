from pathlib import Path

from playwright.sync_api import sync_playwright

OUT = Path("shots")


def run():
    with sync_playwright() as p:
        browser = p.chromium.launch(headless=True)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto("https://shop.example.com/")
        page.wait_for_load_state("networkidle")
        page.screenshot(path="shots/home.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    run()
