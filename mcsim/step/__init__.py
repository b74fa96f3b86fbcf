"""A step of a world: its stages in order, by the integrators on velocities, accelerations and positions, and over
generalized coordinates.
"""
