"""Worlds as environments to learn in, by Gymnasium's interface: importing this package registers them.

    import gymnasium, mcsim.gym
    env = gymnasium.make("mcsim/CartPole-v0")
    many = gymnasium.make_vec("mcsim/Hopper-v0", num_envs=256)

Needs the extra `gym`. docs/howto/learn.md shows a task of your own.
"""

from mcsim.core.extras import require_gymnasium

try:
    import gymnasium
except ImportError:
    require_gymnasium()

from mcsim.gym.environments import Environment, Environments
from mcsim.gym.task import Task
from mcsim.gym.tasks import CartPole, GetUp, Hopper

TASKS: dict[str, type[Task]] = {"CartPole": CartPole, "Hopper": Hopper, "GetUp": GetUp}

for _name, _task in TASKS.items():
    gymnasium.register(
        f"mcsim/{_name}-v0",
        entry_point="mcsim.gym:Environment",
        vector_entry_point="mcsim.gym:Environments",
        max_episode_steps=None,  # tasks end their episodes themselves, alike in one environment and in many
        kwargs={"task": _task},
    )

__all__ = ["TASKS", "CartPole", "Environment", "Environments", "GetUp", "Hopper", "Task"]
