# %% [markdown]
# # Chapter 3 by hand, for any robot
#
# From the connectivity graph of a scene to its equations of motion in three ways, after R. Featherstone, *Rigid Body
# Dynamics Algorithms* (2008), chapter 3. The page docs/tutorials/chapter_3.md explains each step on a four-bar; here every
# step is a function of a system, so that it runs on a four-bar, on the quadruped, and on a robot from a URDF file:
#
#     python demos/chapter_3.py [--urdf robot.urdf] [--png graph.png]
#
# Cells begin with `# %%`, as editors and notebooks (jupytext) read them.

# %%
"""Chapter 3 by hand: graph, S, T, G, K, Phi and three formulations, of a four-bar and of a robot."""

import argparse

import numpy as np

import mcsim as mc
from mcsim.reduced import Formulation, System, joint_spaces, mobility

# %% [markdown]
# ## The graph
# Parents lambda, the path kappa(i) from the base to link i, and which joints close loops.


# %%
def show_graph(system):
    """Print the spanning tree, what closes its loops, and the tables of the graph."""
    print(system)
    print("parents lambda:", system.parent)
    print("predecessors p:", system.predecessor)
    print("successors s:  ", system.successor)
    print("kappa of the last link:", system.support(len(system.links) - 1))
    print(mobility(system))


# %% [markdown]
# ## Joints
# S spans what a joint allows, T the forces that it transmits: T'S = 0, and T_a'S = 1 for the forces that drive it.


# %%
def check_spaces(spaces):
    """-> the largest of what T'S and T_a'S - 1 should not have."""
    worst = 0.0
    for joint in spaces:
        own = joint.T_a.T @ joint.S - np.eye(joint.S.shape[1])
        worst = max(worst, np.abs(joint.T.T @ joint.S).max(initial=0.0), np.abs(own).max(initial=0.0))
    print(f"{len(spaces)} joints: T'S = 0 and T_a'S = 1 to {worst:.1e}")
    return worst


# %% [markdown]
# ## Explicit: G
# Joint i moves every link that it supports as one rigid body: a column of S, taken to the links' centres of mass.


# %%
def tree_matrix(system, joints, centers):
    """G (6 links, nv): takes the tree's velocities to [w; v] of all links. joints: their spaces in world axes, those of the
    tree first; centers (links, 3)."""
    G = np.zeros((6 * len(system.links), system.nv))
    for link in system.links:
        for i in system.support(link.number):
            w, v = joints[i].S[:3], joints[i].S[3:]
            arm = centers[link.number] - joints[i].origin
            sign = -1.0 if system.links[i].reversed else 1.0
            moved = v + np.cross(w, arm[:, None], axis=0)
            G[6 * link.number : 6 * link.number + 6, system.links[i].v] = sign * np.concatenate([w, moved])
    return G


# %% [markdown]
# ## Implicit: K
# What joints forbid, T' (v_s - v_p), both velocities taken to the joint.


# %%
def constraint_matrix(system, joints, centers):
    """K (rows, 6 links) of all joints, of the tree and of loops; K v = 0. Gears and rods have rows more."""
    blocks = []
    for joint in joints:
        rows = np.zeros((joint.T.shape[1], 6 * len(system.links)))
        for link, sign in ((joint.successor, 1.0), (joint.predecessor, -1.0)):
            if link >= 0:
                x, y, z = joint.origin - centers[link]
                X = np.eye(6)
                X[3:, :3] = -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
                rows[:, 6 * link : 6 * link + 6] += sign * joint.T.T @ X
        blocks.append(rows)
    return np.concatenate(blocks)


# %% [markdown]
# ## Three formulations
# a = G y'' + g;  [H K'; K 0] [a; -lambda] = [F - C; k];  a = Phi (F - C) + b.


# %%
def three_ways(made):
    """-> accelerations (6 links,) of the three, from H, C, F, K, k, G, g alone."""
    H, force, K, k, size = made.H, made.F - made.C, made.K, made.k, len(made.F)
    explicit = made.G @ np.linalg.solve(made.G.T @ H @ made.G, made.G.T @ (force - H @ made.g)) + made.g
    kkt = np.block([[H, K.T], [K, np.zeros((len(K), len(K)))]])
    implicit = np.linalg.lstsq(kkt, np.concatenate([force, k]), rcond=1e-12)[0][:size]
    free = np.linalg.svd(K)[2][made.rank :].T  # spans K v = 0
    Phi = free @ np.linalg.solve(free.T @ H @ free, free.T)
    apparent = Phi @ force + (np.eye(size) - Phi @ H) @ np.linalg.pinv(K, rcond=1e-10) @ k
    return {"projected": explicit, "kkt": implicit, "apparent": apparent}


# %%
def walk(scene, q=None, qd=None, tau=None):
    """Through all steps, with what they print. -> the largest relative difference that should be rounding."""
    system = scene if isinstance(scene, System) else System(scene)
    show_graph(system)
    start = system.initial()
    q, qd = start[0] if q is None else q, start[1] if qd is None else qd
    spaces = joint_spaces(system, q, qd)
    worst = [check_spaces(spaces)]
    made = Formulation(system, q, qd, tau)
    joints = [joint.in_world() for joint in spaces]
    centers = made.dynamics.poses(q)[0][[link.body_number for link in system.links]]

    G, K = tree_matrix(system, joints, centers), constraint_matrix(system, joints, centers)
    worst += [np.abs(G - made.tree_G).max(), np.abs(K - made.K[: len(K)]).max()]
    print(f"G {G.shape} and K {K.shape} by hand are tree_G and K to {max(worst[1:]):.1e}; rank of K: {made.rank}")
    answers = three_ways(made)
    size = np.abs(answers["kkt"]).max()
    for name, a in answers.items():
        off = np.abs(a - made.accelerations(name).ravel()).max() / size
        print(f"{name:9s} largest acceleration {np.abs(a).max():12.6f}, by name the same to {off:.1e}")
        worst += [off, np.abs(a - answers["kkt"]).max() / size]
    print(f"K a = k to {np.abs(made.K @ answers['apparent'] - made.k).max() / size:.1e} of it")
    print(f"largest difference of all: {max(worst):.1e}")
    return max(worst)


# %% [markdown]
# ## A four-bar, a quadruped with one foot held, and a robot of yours


# %%
def held_quadruped():
    """The quadruped; the front left foot is on a ball joint to the ground, which closes a loop with the trunk's free
    joint."""
    scene = mc.load("quadruped")
    shank = scene.body("FL.shank")
    foot = np.array(shank.position) + shank.shapes[1].position  # the ball at its end
    joints = list(scene.joints)
    scene.add_joint(mc.BallJoint(None, "FL.shank", anchor=tuple(foot), name="held foot"))
    return System(scene, tree=joints, roots=["trunk"])


def moving(system, seed=1):
    """Velocities at random (nv,) that the loops allow."""
    qd = np.random.default_rng(seed).normal(size=system.nv)
    q = system.initial()[0]
    loops = Formulation(system, q).loop_K
    return qd - np.linalg.pinv(loops, rcond=1e-10) @ (loops @ qd) if len(loops) else qd


def main(urdf=None, png=None):
    """Runs the demo, prints what it saw and checks it. -> whether all agree to 1e-9"""
    print("---- a four-bar ----")
    four_bar = System(mc.load("four_bar", driven=False))
    worst = [walk(four_bar, tau=[1.0, 0, 0])]
    print("\n---- a quadruped, one foot held ----")
    quadruped = held_quadruped()
    worst.append(walk(quadruped, qd=moving(quadruped)))
    if urdf:
        print(f"\n---- {urdf} ----")
        robot = System(mc.load(urdf, meshes="none"))
        worst.append(walk(robot, qd=moving(robot)))
    if png:
        quadruped.draw(png)
        print(f"wrote {png}")
    assert max(worst) < 1e-9, "by hand and by name, and all three formulations, must agree"
    return True


# %%
if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urdf", help="a robot's file")
    parser.add_argument("--png", help="write a picture of the quadruped's graph")
    main(**vars(parser.parse_args()))
