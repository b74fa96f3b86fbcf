"""Rapier

By Dimforge. Sizes of the programs in its folder examples3d by name; y of them is z here.
"""
