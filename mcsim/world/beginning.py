"""What is so at the beginning of a scene, which no world tells before its first step."""

from __future__ import annotations

from mcsim.world.world import World


def first_overlap(world: World) -> float:
    """How deep the bodies of a world that has made no step overlap [m], 0 if none do: of the pairs and by the geometry of
    a step. A world finds its contacts in its steps, so its collider is asked here, which keeps what it finds: take a
    world that is to do nothing else."""
    found = world._collider.collide_once(world.positions, world.orientations, world._bodies.kind, 0.0)
    return max(
        (0.0, *(-float(manifold["points"]["separation"][: manifold["point_count"]].min(initial=0.0)) for manifold in found))
    )
