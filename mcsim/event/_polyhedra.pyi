from typing import Any

import numpy as np

from mcsim.event._features import Pairs, Poses

class VertexPolyhedron(Pairs):
    normals: np.ndarray
    offsets: np.ndarray
    def __init__(self, common: Any, normals: Any, offsets: Any, vertex: Any, toward: Any) -> None: ...

class EdgeEdge(Pairs):
    def __init__(self, common: Any, ends: Any, middles: Any, solids: Any, whose: Any) -> None: ...
    def separations(self, poses: Poses) -> np.ndarray: ...
