#!/usr/bin/env python3
"""Plot and describe measurements."""
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

frame = pd.read_csv("measurements.csv", parse_dates=["time"])
frame = frame.dropna().set_index("time")

figure, axes = plt.subplots(figsize=(8, 4))
frame["value"].plot(ax=axes)
axes.set_title("Measurements")
figure.savefig("plot.png", dpi=150)

frame.describe().to_excel("stats.xlsx")
