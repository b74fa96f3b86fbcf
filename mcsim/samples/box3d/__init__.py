"""Box3D

By Erin Catto. Sizes of its sample programs by name; y of them is z here.
"""
