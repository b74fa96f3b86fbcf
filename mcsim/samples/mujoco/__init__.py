"""MuJoCo

By Google DeepMind. Models of its folder model/ and of its documentation by name; sizes where they are known, else chosen.
"""
