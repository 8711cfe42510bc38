#!/usr/bin/env python3
"""Screenshot of the dashboard."""
from playwright.sync_api import sync_playwright

URL = "https://app.example.com/dashboard"


def main():
    with sync_playwright() as p:
        browser = p.chromium.launch(headless=True)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(URL)
        page.wait_for_selector("#chart")
        page.screenshot(path="shot.png")
        browser.close()


main()
