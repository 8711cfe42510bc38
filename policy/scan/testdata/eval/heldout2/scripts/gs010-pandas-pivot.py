import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

sales = pd.read_excel("sales.xlsx", sheet_name="2024")
regions = pd.read_csv("regions.csv", dtype=str)
df = sales.merge(regions, on="region_id", how="left")

pivot = df.pivot_table(index="region", columns="month", values="amount", aggfunc="sum")
pivot.to_excel("pivot.xlsx")

ax = pivot.plot(kind="bar", figsize=(10, 6))
ax.set_ylabel("EUR")
plt.tight_layout()
plt.savefig("pivot.png", dpi=150)
print(pivot.shape)
