"""Environments to learn in: by Gymnasium's own checker, alike in one and in many, and what they are worth."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc

gymnasium = pytest.importorskip("gymnasium")
import mcsim.gym  # noqa: E402 (where gymnasium is)
from mcsim.gym import TASKS, CartPole, Environment, Environments, Task  # noqa: E402

every_task = pytest.mark.parametrize("name", TASKS)


def actions(environment, count, seed=0):
    space = environment.action_space if isinstance(environment, Environment) else environment.single_action_space
    return np.random.default_rng(seed).uniform(space.low, space.high, (count, *space.shape))


@every_task
@pytest.mark.filterwarnings("ignore:.*Overwriting existing videos.*")
@pytest.mark.filterwarnings("ignore:.*infinity.*:UserWarning")
@pytest.mark.filterwarnings("ignore:.*render modes.*:UserWarning")
@pytest.mark.filterwarnings("ignore:.*render_mode.*:UserWarning")
def test_gymnasiums_own_checker(name):
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make(f"mcsim/{name}-v0").unwrapped, skip_render_check=True)


@every_task
def test_many_are_as_many_single_ones(name):
    """The same seeds and actions: the same episodes, to the bit, with any number of threads, over the ends of episodes."""
    task = TASKS[name]
    length = {"CartPole": 60, "Hopper": 80, "GetUp": 12}[name]
    many = [Environments(task, 3, threads=threads) for threads in (1, 2)]
    single = [Environment(task) for _ in range(3)]
    seen = [one.reset(seed=7 + i)[0] for i, one in enumerate(single)]
    for one in many:
        assert np.array_equal(one.reset(seed=7)[0], seen)
    chosen = actions(single[0], length * 3).reshape(length, 3, -1)
    over = [False] * 3
    for k in range(length):
        told = []
        for i, one in enumerate(single):
            if over[i]:
                told.append((one.reset()[0], 0.0, False, False))
            else:
                told.append(one.step(chosen[k, i])[:4])
            over[i] = told[-1][2] or told[-1][3]
        for one in many:
            found = one.step(chosen[k])
            for part, wanted in zip(found[:4], zip(*told)):
                assert np.array_equal(part, wanted)
    assert name == "GetUp" or any(one._episode.made < length for one in single)  # some began anew
    for one in (*many, *single):
        one.close()


def test_a_pole_that_is_pushed_rightly_stays_up():
    """By a linear law; without one it falls."""
    env = gymnasium.make("mcsim/CartPole-v0")
    lasting = []
    for gains in ((0.1, 3.0, 0.25, 0.6), (0, 0, 0, 0)):
        seen, _ = env.reset(seed=1)
        total, over = 0.0, False
        while not over:
            seen, worth, ended, cut, _ = env.step(np.clip([np.dot(gains, seen)], -1, 1))
            total, over = total + worth, ended or cut
        lasting.append(total)
    assert lasting[0] == 500 and lasting[1] < 150


def test_a_hopper_that_does_nothing_falls_soon():
    env = gymnasium.make("mcsim/Hopper-v0")
    env.reset(seed=2)
    k, ended = 0, False
    while not ended and k < 1000:
        _, _, ended, _, _ = env.step(np.zeros(3))
        k += 1
    assert 20 < k < 400 and env.unwrapped.world.q[1] < 0.1
    assert env.unwrapped.world.stats.notes == []


def test_the_hopper_is_gymnasiums():
    """Its mass matrix, limits, rotors and damping, and what gravity asks of the joints, by Gymnasium's own file."""
    mujoco = pytest.importorskip("mujoco")
    path = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "hopper.xml"
    if not path.exists():
        pytest.skip("Gymnasium has no such file")
    model = mujoco.MjModel.from_xml_path(str(path))
    world = TASKS["Hopper"]().make()
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(5):
        q = rng.uniform(-0.5, 0.5, 6)
        data.qpos[:], data.qvel[:] = q + (0, 1.25, 0, 0, 0, 0), 0.0
        mujoco.mj_forward(model, data)
        h = np.zeros((6, 6))
        try:
            mujoco.mj_fullM(model, data, h)
        except TypeError:  # before MuJoCo 4
            mujoco.mj_fullM(model, h, data.qM)
        assert world.mass_matrix(q) == pytest.approx(h, abs=3e-3)  # two bodies of 1 g between the first three joints
        assert world.bias_force(q, np.zeros(6)) == pytest.approx(data.qfrc_bias, abs=0.02)
    for joint, ours in zip(range(3, 6), ("hip", "knee", "ankle")):
        axis = world.scene.joint(ours).axes[0]
        assert (axis.lower, axis.upper) == pytest.approx(tuple(model.jnt_range[joint]))
        assert (axis.armature, axis.spring.damping) == (model.dof_armature[joint], model.dof_damping[joint])
    assert TASKS["Hopper"].TORQUE == model.actuator_gear[0, 0]


def test_a_doll_lies_before_it_gets_up():
    env = gymnasium.make("mcsim/GetUp-v0")
    env.reset(seed=3)
    _, worth, ended, cut, _ = env.step(np.zeros(env.action_space.shape))
    assert 0.0 < worth < 0.35 and not ended and not cut
    rng, heights = np.random.default_rng(0), []
    for _ in range(30):
        _, worth, *_ = env.step(rng.choice([-1.0, 1.0], env.action_space.shape))
        heights.append(worth)
    assert np.ptp(heights) > 0.02  # what it does moves it


def test_many_by_gymnasiums_name():
    many = gymnasium.make_vec("mcsim/Hopper-v0", num_envs=4)
    seen, _ = many.reset(seed=5)
    assert seen.shape == (4, 11) and many.observation_space.contains(seen)
    seen, worth, ended, cut, _ = many.step(many.action_space.sample())
    assert seen.shape == (4, 11) and worth.shape == ended.shape == cut.shape == (4,) and len(many.unwrapped.worlds) == 4
    again, _ = many.reset(seed=[5, 6, 7, 8])
    first, _ = gymnasium.make_vec("mcsim/Hopper-v0", num_envs=4).reset(seed=5)
    assert np.array_equal(again, first)
    with pytest.raises(mc.SceneError, match="2 seeds for 4 environments"):
        many.unwrapped.reset(seed=[1, 2])
    many.close()


def test_a_picture():
    pytest.importorskip("matplotlib")
    env = gymnasium.make("mcsim/CartPole-v0", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (360, 480, 3) and picture.dtype == np.uint8 and np.ptp(picture) > 100


class Falling(Task):
    """A ball that fails when it is thrown too hard."""

    actions = (-np.ones(1), np.ones(1))
    observations = 1
    length = 3

    def make(self):
        scene = mc.Scene()
        scene.add_body("ball", shape=mc.Sphere(0.1))
        return mc.World(scene)

    def begin(self, world, random):
        world.set_velocity("ball", (0, 0, random.uniform(0, 1)))

    def act(self, world, action):
        if action[0] > 0.5:
            world.set_velocity("ball", (0, 0, 1e300))

    def observe(self, world):
        return world.positions[0, 2:]

    def worth(self, world, action):
        return float(world.velocities[0, 2])

    def ended(self, world):
        return False


def test_a_task_of_ones_own():
    """Cut off after its length; ended, worth nothing, where its world fails."""
    env = Environment(Falling)
    env.reset(seed=0)
    assert [env.step([0.0])[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]
    env.reset()
    assert env.step([1.0])[1:4] == (0.0, True, False)
    env.reset()
    assert env.step([0.0])[2:4] == (False, False)
    with pytest.raises(mc.SceneError, match="must be a Task"):
        Environment(3)
    with pytest.raises(mc.SceneError, match="num_envs"):
        Environments(CartPole, 0)


def test_without_gymnasium_it_says_what_to_install():
    code = "import sys; sys.modules['gymnasium'] = None; import mcsim; import mcsim.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'mcsim-physics[gym]'" in done.stderr and done.returncode == 1
