"""PyBullet

By Erwin Coumans. Programs of its folder examples by name; sizes where they are known, else chosen.
"""
