"""Exudyn

By Johannes Gerstmayr. Sizes of the programs in its folder Examples by name where they are known; others say what is chosen.
"""
