"""Joints solved directly: articulations, what of them is factored at once, how they fly, and what keeps their energy."""
