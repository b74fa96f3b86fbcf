"""Jolt

Jolt Physics is by Jorrit Rouwe. Groups follow the categories of its sample browser, of which General is three here:
general, piles, contacts. Counts, speeds and sizes are those that its samples are told to have, else usual ones. Its y is
z here.
"""
