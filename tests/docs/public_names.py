"""The names that the API reference must have, and the classes whose members it must tell."""

import inspect

import mcsim as mc

MODULES = {
    "contacts": mc.contacts,
    "control": mc.control,
    "derive": mc.derive,
    "lab": mc.lab,
    "maximal": mc.maximal,
    "reduced": mc.reduced,
    "rotation": mc.rotation,
    "samples": mc.samples,
    "spatial": mc.spatial,
}
CLASSES = [
    kind for module in (mc, *MODULES.values()) for name in module.__all__ if inspect.isclass(kind := getattr(module, name))
]
# What is told of as a module, whose own names are listed.
NAMES = {f"mcsim.{name}" for name in mc.__all__ if name not in (*MODULES, "scenes")}
NAMES |= {
    f"mcsim.{module}.{name}"
    for module, found in MODULES.items()
    for name in found.__all__
    if name not in ("compare", "studies", "suites", "sweep", "Sweep", "step_derivatives", "trajectory_derivatives")
}
NAMES |= {f"mcsim.scenes.{name}" for name in mc.scenes.__all__ if name != "load"}
