"""Contact problems as things of their own, and the ways to solve them."""
