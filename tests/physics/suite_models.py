"""The motions of the suite of mechanisms by equations of their own, which share nothing with the simulator."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import mcsim as mc
from benchmark_models import Reduced, about, bodies, rod, triad
from reduced_models import Y, Z

G = 9.81


def point_pendulum(times, radius=1e-3):
    """The elliptic function of a pendulum let go from the horizontal -> x, z of the ball."""
    rate, k = np.sqrt(G / (1 + 0.4 * radius**2)), np.sin(np.pi / 4)
    _, cn, dn, _ = ellipj(rate * np.asarray(times), k * k)
    sine = k * cn / dn  # sin(angle / 2), at its greatest at first
    assert np.isclose(4 * ellipk(k * k) / rate, 2.36784, atol=1e-4)
    return np.stack([2 * sine * np.sqrt(1 - sine**2), 2 * sine**2 - 1], axis=-1)


def four_bars(times, windows):
    """One angle for all bars, from upright: theirs is a single pendulum -> x, z of the first top."""
    inertia = (windows + 1) / 3 + windows
    weight = ((windows + 1) / 2 + windows) * G

    def rate(_, y):
        return [y[1], weight / inertia * np.sin(y[0])]

    angle = _solved(rate, [0.0, 1.0], times)[0]
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1)


def chain(times, scene):
    """Bars on hinges in a plane by Lagrange's equations in their angles from hanging -> x, z of the last centre."""
    bars = scene.bodies
    n, mass = len(bars), np.array([bar.mass for bar in bars])
    moment = np.array([bar.inertia[1, 1] for bar in bars])
    ends = np.array([0 * bars[0].position, *(bar.position for bar in bars)])
    # A bar's end is as far beyond its centre as its beginning is before it.
    tip, ways = np.zeros(3), []
    for center in ends[1:]:
        ways.append(2 * (center - tip))
        tip = tip + ways[-1]
    ways = np.array(ways)
    length = np.linalg.norm(ways, axis=1)
    # Arm of bar i that moves the centre of bar k.
    arms = np.array([[length[i] if i < k else 0.5 * length[i] if i == k else 0.0 for i in range(n)] for k in range(n)])
    coupling = np.einsum("k,ki,kj->ij", mass, arms, arms)

    def rate(_, y):
        q, u = y[:n], y[n:]
        apart = q[:, None] - q
        matrix = coupling * np.cos(apart) + np.diag(moment)
        return [*u, *np.linalg.solve(matrix, -(coupling * np.sin(apart)) @ u**2 - G * (mass @ arms) * np.sin(q))]

    start = np.arctan2(ways[:, 0], -ways[:, 2])
    q = _solved(rate, [*start, *np.zeros(n)], times)[:n]
    return np.stack([arms[-1] @ np.sin(q), -arms[-1] @ np.cos(q)], axis=-1)


def slider_crank(times, scene):
    """Lagrange's equation in the crank's angle from x: M q'' + M' q'^2 / 2 + V' = 0 -> x, z of the rod's centre. All is
    analytic in q, so derivatives are imaginary parts at q + 1e-30 i."""
    crank, rod, piston = (body for body in scene.bodies if body.name != "bed")
    length = 2 * np.hypot(*crank.position[[0, 2]])
    reach = 2 * np.hypot(*(rod.position - 2 * crank.position)[[0, 2]])
    start = np.arctan2(crank.position[2], crank.position[0])
    small = 1e-30j

    def places(q):
        lean = -np.arcsin(length / reach * np.sin(q))
        pin = length * np.array([np.cos(q), np.sin(q)])
        half = 0.5 * reach * np.array([np.cos(lean), np.sin(lean)])
        return pin / 2, pin + half, pin + 2 * half, lean

    def rates(q):
        """Of the places, d/dq, in closed form: analytic too."""
        lean = -np.arcsin(length / reach * np.sin(q))
        turn = -length * np.cos(q) / (reach * np.cos(lean))
        pin = length * np.array([-np.sin(q), np.cos(q)])
        half = 0.5 * reach * turn * np.array([-np.sin(lean), np.cos(lean)])
        return pin / 2, pin + half, pin + 2 * half, turn

    def mass(q):
        *ways, turn = rates(q)
        moved = sum(body.mass * (way @ way) for body, way in zip((crank, rod, piston), ways))
        return moved + crank.inertia[1, 1] + rod.inertia[1, 1] * turn**2

    def height(q):
        return sum(body.mass * G * place[1] for body, place in zip((crank, rod, piston), places(q)))

    def rate(_, y):
        q, u = y
        slope, pull = (f(q + small).imag / 1e-30 for f in (mass, height))
        return [u, -(0.5 * slope * u * u + pull) / mass(q)]

    speed = -crank.angular_velocity[1]
    return places(_solved(rate, [start, speed], times)[0])[1].T


def heavy_top(times, precession=-4.61538):
    """Euler's equations about the fixed point, and the axes of the body -> the centre of mass."""
    inertia = np.array([15.234375, 0.46875, 15.234375])

    def rate(_, y):
        turn, w = y[:9].reshape(3, 3), y[9:]
        torque = np.cross(Y, turn.T @ (-15 * G * Z))
        return [*(turn @ np.cross(np.eye(3), w)).ravel(), *((torque - np.cross(w, inertia * w)) / inertia)]

    y = _solved(rate, [*np.eye(3).ravel(), 0.0, 150.0, precession], times)
    return y[[1, 4, 7]].T


def bricard(times):
    """The loop by its one coordinate: turns at its hinges are alternately a and b with (1 + cos a)(1 + cos b) = 1, of
    which 1 + cos a = 2^sin(q) and 1 + cos b = 2^-sin(q) -> centre of the third bar, the one that is farthest off."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 0, -1), (1, -1, -1), (0, -1, -1), (0, -1, 0)], float)
    ways = np.roll(corners, -1, axis=0) - corners

    def turn(u, half):
        """The angle of which 1 - cos is 2 - 2^(1 - u), where u = 2 sin(half)^2."""
        ratio = np.where(u > 1e-12, -2 * np.expm1(-u * np.log(2)) / np.maximum(u, 1e-12), 2 * np.log(2))
        return 2 * np.arcsin(np.sin(half) * np.sqrt(ratio))

    def place(q):
        angle = q[..., 0]
        turns = turn(1 - np.sin(angle), np.pi / 4 - angle / 2), turn(1 + np.sin(angle), np.pi / 4 + angle / 2)
        point, turned = corners[0], np.eye(3)
        centers, rotations = [], []
        for k in range(6):
            axis = np.cross(ways[k - 1], ways[k])
            turned = turned @ about(axis, turns[k % 2] - np.pi / 2)
            if k < 5:
                along = turned @ ways[k]
                centers.append(point + along / 2)
                rotations.append(triad(along, turned @ np.roll(np.abs(ways[k]), 1)))
                point = point + along
        assert np.abs(point - corners[5]).max() < 1e-10 and np.abs(turned - np.eye(3)).max() < 1e-10
        return bodies(centers, rotations)

    model = Reduced(place, [1.0] * 5, [rod(1.0, 1.0, 0.1)] * 5, lambda: [], 0.0, 0.0, tolerance=1e-12)
    return place(model.solve(np.asarray(times, float))[0])[0][..., 2, :]


def governor(times):
    """The shaft's angle, the ring's height, the slope of both rods below the horizontal -> height of the ring."""
    side, tie, stiffness, damping = 0.1, 0.5, 8e5, 4e4
    rod_mass, ball = 0.3, 5.0
    arm = (rod_mass * 0.5 + ball) / (rod_mass + ball)
    moments = np.array(rod(rod_mass, 1.0, 0.01))
    moments[1:] += rod_mass * (arm - 0.5) ** 2 + ball * (1 - arm) ** 2

    def place(q):
        spin = about(Z, q[..., 0])
        out, across = spin[..., :, 0], spin[..., :, 1]
        slope = q[..., 2, None]
        ways = [sign * np.cos(slope) * out - np.sin(slope) * Z for sign in (1, -1)]
        centers = [Z + sign * side / 2 * out + arm * way for sign, way in zip((1, -1), ways)]
        return bodies([0.5 * Z, q[..., 1, None] * Z, *centers], [spin, spin, *(triad(way, across) for way in ways)])

    def loads(x, r, v, w):
        wrench = np.zeros((4, 6))
        for k, sign in ((2, 1), (3, -1)):
            back, hook = (0.5 - arm) * r[k][:, 0], sign * side / 2 * r[1][:, 0]
            way = x[k] + back - x[1] - hook
            distance = np.linalg.norm(way)
            slip = way @ (v[k] + np.cross(w[k], back) - v[1] - np.cross(w[1], hook)) / distance
            force = -(stiffness * (distance - tie) + damping * slip) / distance * way
            wrench[k] += [*force, *np.cross(back, force)]
            wrench[1] -= [*force, *np.cross(hook, force)]
        return wrench

    model = Reduced(
        place,
        [0.3, 3.0, 5.3, 5.3],
        [rod(0.3, 1.0, 0.01)[::-1], [5e-3] * 3, moments, moments],
        lambda: [],
        [0.0, 0.5, np.pi / 6],
        [2 * np.pi, 0.0, 0.0],
        loads=loads,
        method="Radau",
        tolerance=1e-8,
    )
    return model.solve(np.asarray(times, float))[0][:, 1:2]


def _solved(rate, start, times):
    """(n, t) by DOP853."""
    found = solve_ivp(rate, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=3e-14, atol=1e-14)
    assert found.success, found.message
    return found.y


# (scene, parameters) -> times -> values
MOTIONS = {
    ("point_pendulum", ()): point_pendulum,
    ("four_bars", (2,)): lambda times: four_bars(times, 2),
    ("four_bars", (40,)): lambda times: four_bars(times, 40),
    ("bricard", ()): bricard,
    ("governor", ()): governor,
    ("heavy_top", ()): heavy_top,
    ("double_pendulum", ()): lambda times: chain(times, mc.scenes.double_pendulum()),
    ("slider_crank", (False,)): lambda times: slider_crank(times, mc.scenes.slider_crank(driven=False)),
    ("planar_chain", (6,)): lambda times: chain(times, mc.scenes.planar_chain(count=6)),
}
