"""Chrono

By Project Chrono. Sizes of its demos by name where they are known; others are chosen.
"""
