"""Jolt

Jolt Physics, by Jorrit Rouwe. Sizes of its sample programs by name; y of them is z here.
"""
