"""Families of scenes with an independent truth each, one module a group; `FAMILIES` has them all by name."""

from families import chains, classics, flowing, impacts, linkages, nets, sliding, structures

GROUPS = {
    "chains": ("Chains, trees and what acts in joints", chains),
    "flowing": ("Chains that run out", flowing),
    "nets": ("Nets and linkages", nets),
    "linkages": ("Gears and spatial linkages", linkages),
    "sliding": ("Rolling, sliding, spinning", sliding),
    "impacts": ("Impacts", impacts),
    "structures": ("Structures", structures),
    "classics": ("Classics", classics),
}

FAMILIES = {family.name: family for _, module in GROUPS.values() for family in module.FAMILIES}
