#!/usr/bin/env python3
"""Log in and print the balance."""
import os
from selenium import webdriver
from selenium.webdriver.common.by import By

driver = webdriver.Chrome()
try:
    driver.get("https://portal.example.com/login")
    driver.find_element(By.ID, "user").send_keys("me@example.com")
    driver.find_element(By.ID, "password").send_keys(os.environ["PORTAL_PASSWORD"])
    driver.find_element(By.ID, "go").click()
    print(driver.find_element(By.ID, "balance").text)
finally:
    driver.quit()
