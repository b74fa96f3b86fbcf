class Islands:
    sleepers: int
    reach: float
