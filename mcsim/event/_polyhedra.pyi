import numpy as np

from mcsim.event._features import Pairs, Poses

class VertexPolyhedron(Pairs):
    normals: np.ndarray
    offsets: np.ndarray
    def __init__(self, common, normals, offsets, vertex, toward) -> None: ...

class EdgeEdge(Pairs):
    def __init__(self, common, ends, middles, solids, whose) -> None: ...
    def separations(self, poses: Poses) -> np.ndarray: ...
