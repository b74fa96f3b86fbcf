class Islands:
    sleepers: int
