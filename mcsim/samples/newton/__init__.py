"""Newton

By the Newton contributors, version 1.8. Programs of its folder examples by name; sizes where they are known, else chosen.
"""
