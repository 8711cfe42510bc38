#!/usr/bin/env python3
"""Loan table on stdout; touches nothing."""
import sys
from decimal import Decimal


def table(amount, rate, months):
    monthly = rate / 12
    payment = amount * monthly / (1 - (1 + monthly) ** -months)
    balance = amount
    for month in range(1, months + 1):
        interest = balance * monthly
        balance -= payment - interest
        yield month, payment, interest, balance


if __name__ == "__main__":
    for row in table(Decimal(sys.argv[1]), Decimal(sys.argv[2]), int(sys.argv[3])):
        print("%3d %10.2f %10.2f %12.2f" % row)
