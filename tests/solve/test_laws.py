"""The laws of impact over dense matrices: complementarity by another solver, Stronge's process in small steps and in
closed form, and energy, which only Newton's and Poisson's laws may gain."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from amounts import amount
from mcsim.solve._laws import strike
from mcsim.solve.problems.impacts import Blow

NEWTON, POISSON, STRONGE = range(3)


def random_blow(seed, count, scale=1.0):
    """A (3k, 3k) of k contacts of a few bodies, rates with all closing, e and mu."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(3 * count, 3 * count + 3))
    u = rng.normal(size=3 * count)
    u[::3] = -np.abs(u[::3])
    return G @ G.T / scale, u, rng.uniform(0, 1, count), rng.uniform(0, 1.5, count)


def gained(A, u, p):
    return p @ (u + 0.5 * A @ p)


@settings(deadline=None, max_examples=amount(33, 100))
@given(seed=st.integers(0, 2**32 - 1), law=st.sampled_from([NEWTON, POISSON]))
def test_one_contact_is_as_of_events(seed, law):
    """Where sliding cannot press the contact down there is one answer, which events find by Newton's method."""
    A, u, e, mu = random_blow(seed, 1)
    mu[0] = min(mu[0], 0.9 * A[0, 0] / np.hypot(A[0, 1], A[0, 2]))
    expected, _, finished = Blow(A, u, e, mu).solve(("newton", "poisson")[law], "simultaneous")
    assert finished
    np.testing.assert_allclose(strike(A, u, e, mu, law), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@settings(deadline=None, max_examples=amount(66, 200))
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 6), scale=st.sampled_from([1e-3, 1.0, 1e3]))
def test_stronges_law_gains_no_energy(seed, count, scale):
    """Whatever the contacts, their restitutions and friction; nothing is pulled, friction stays in its cone."""
    A, u, e, mu = random_blow(seed, count, scale)
    p = strike(A, u, e, mu, STRONGE)
    energy = 0.5 * u @ np.linalg.solve(A, u)  # what impulses can take at most
    assert gained(A, u, p) <= 1e-12 * energy
    size = np.abs(p).max()
    assert (p[::3] >= 0.0).all() and (u + A @ p)[::3].max() > 0.0
    assert (np.hypot(p[1::3], p[2::3]) <= mu * p[::3] + 1e-12 * size).all()


@settings(deadline=None, max_examples=amount(33, 100))
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 5), e=st.floats(0, 1))
def test_without_friction_all_laws_are_one(seed, count, e):
    """Where all contacts have one restitution, and all stay pressed."""
    A, u, _, _ = random_blow(seed, count)
    restitution, none = np.full(count, e), np.zeros(count)
    found = [strike(A, u, restitution, none, law) for law in (NEWTON, POISSON, STRONGE)]
    for p in found[1:]:
        np.testing.assert_allclose(p, found[0], rtol=0, atol=1e-9 * np.abs(found[0]).max())
    assert gained(A, u, found[2]) <= 1e-12 * 0.5 * u @ np.linalg.solve(A, u)


def by_small_steps(A, u, e, mu, parts):
    """Stronge's process with the friction of each small part against the slip that it ends with."""
    u, p, work, deepest = u.copy(), np.zeros(3), 0.0, 0.0
    dp = -u[0] / A[0, 0] / parts
    for _ in range(100 * parts):
        step = np.array([dp, 0.0, 0.0])
        step[1:] = -np.linalg.solve(A[1:, 1:], (u + A @ step)[1:])
        if np.linalg.norm(step[1:]) > mu * dp:
            step[1:] = -mu * dp * u[1:] / np.linalg.norm(u[1:])
        after = u + A @ step
        work += 0.5 * dp * (u[0] + after[0])
        p, u = p + step, after
        if u[0] < 0.0:
            deepest = work
        elif work >= (1.0 - e * e) * deepest:
            return p
    raise AssertionError("the impact does not end")


@settings(deadline=None, max_examples=amount(6, 20))
@given(seed=st.integers(0, 2**32 - 1))
def test_stronges_law_is_the_process_in_small_steps(seed):
    """Slip that turns, stops, and starts anew, to some of the small steps' impulses."""
    A, u, e, mu = random_blow(seed, 1)
    expected = by_small_steps(A, u, e[0], mu[0], 2000)
    part = -u[0] / A[0, 0] / 2000
    assert np.abs(strike(A, u, e, mu, STRONGE) - expected).max() <= 3.0 * (1.0 + mu[0]) * part


@settings(deadline=None, max_examples=amount(33, 100))
@given(lean=st.floats(0.1, 1.4), slip=st.floats(0.01, 3.0), e=st.floats(0.0, 1.0), mu=st.floats(0.05, 2.0))
def test_a_rod_that_slips_and_then_sticks(lean, slip, e, mu):
    """A uniform rod strikes the ground with its end: closed form of the planar process in its legs (W. Stronge,
    "Impact Mechanics", 2000, chapter 4), by what its end gives way: A over (n, t), the slip along t."""
    s, c = np.sin(lean), np.cos(lean)
    nn, tt, nt = 1.0 + 3.0 * s * s, 1.0 + 3.0 * c * c, -3.0 * s * c
    A = np.array([[nn, nt, 0.0], [nt, tt, 0.0], [0.0, 0.0, 1.0]])
    u = np.array([-1.0, slip, 0.0])
    if not nn - mu * nt > 0.0 or not abs(nt) <= mu * tt:
        return  # it jams, or slips back
    slide, stick = nn - mu * nt, nn - nt * nt / tt  # d u_n / dP
    stop = slip / (mu * tt - nt)  # the slip ends at this P
    found = strike(A, u, [e], [mu], STRONGE)

    def work(P):
        z = -1.0 + slide * min(P, stop)
        first = -min(P, stop) + 0.5 * slide * min(P, stop) ** 2
        more = max(P - stop, 0.0)
        return first + z * more + 0.5 * stick * more**2

    deepest = 1.0 / slide if slide * stop > 1.0 else stop + (1.0 - slide * stop) / stick
    assert work(found[0]) == pytest.approx((1.0 - e * e) * work(deepest), abs=1e-9)
    assert found[0] >= deepest * (1.0 - 1e-9)
    sliding = min(found[0], stop)
    assert found[1] == pytest.approx(-mu * sliding - nt / tt * max(found[0] - stop, 0.0), abs=1e-9)
    assert found[2] == 0.0


@settings(deadline=None, max_examples=amount(20, 100))
@given(count=st.integers(2, 6), ratio=st.floats(1.0, 1e6), e=st.floats(0.0, 1.0), slip=st.floats(-0.2, 0.2))
def test_a_pile_under_something_heavy(count, ratio, e, slip):
    """Plates of mass 1 on a floor, a mass `ratio` on top: all move as one, and stop, whatever the masses; then e of each
    impulse comes back. Friction is enough to hold, by the tangents' own masses, which are a third."""
    inverse = np.append(np.ones(count - 1), 1.0 / ratio)
    J = np.eye(count) - np.eye(count, k=-1)
    A, v, s = np.zeros((3 * count, 3 * count)), np.full(count, -1.0), np.full(count, slip)
    A[::3, ::3] = J @ np.diag(inverse) @ J.T
    for k in (1, 2):
        A[k::3, k::3] = 3.0 * A[::3, ::3]
    u = np.zeros(3 * count)
    u[::3], u[1::3] = J @ v, J @ s
    p = strike(A, u, np.full(count, e), np.full(count, 0.9), NEWTON)
    u1 = u + A @ p
    size = ratio + count
    assert p[::3] == pytest.approx((1 + e) * size * np.cumsum(1.0 / inverse[::-1])[::-1] / size, rel=1e-9)
    assert u1[::3] == pytest.approx(-e * u[::3], abs=1e-8)
    assert u1[1::3] == pytest.approx(0.0, abs=1e-8)


@settings(deadline=None, max_examples=amount(20, 100))
@given(count=st.integers(2, 6), ratio=st.floats(1.0, 1e6), e=st.floats(0.0, 1.0), others=st.floats(0.0, 0.9))
def test_restitution_does_not_pass_through_what_is_pressed(count, ratio, e, others):
    """The same pile, where the top alone, or more than the rest, gives back: below it nothing closes while it does."""
    inverse = np.append(np.ones(count - 1), 1.0 / ratio)
    J = np.eye(count) - np.eye(count, k=-1)
    A, u = np.zeros((3 * count, 3 * count)), np.zeros(3 * count)
    A[::3, ::3] = J @ np.diag(inverse) @ J.T
    A[1::3, 1::3] = A[2::3, 2::3] = 3.0 * A[::3, ::3]
    u[::3] = J @ np.append(np.zeros(count - 1), -1.0)
    restitution = np.append(np.full(count - 1, others * e), e)
    p = strike(A, u, restitution, np.full(count, 0.5), STRONGE)
    assert (u + A @ p)[::3].min() > -1e-8
    assert gained(A, u, p) <= 1e-12 * ratio
    top = u + A @ p
    if others == 0.0:  # what holds does no work: the blow is that on a wall
        assert top[-3] == pytest.approx(e, abs=1e-6)
        assert top[:-3:3] == pytest.approx(0.0, abs=1e-6)


def test_any_number_of_contacts_at_once():
    """Of a pile whose plates give back unequally; more than are solved at once had been written behind an array's end."""
    for count in (8, 9, 24, 25, 60):
        inverse = np.append(np.ones(count - 1), 1e-3)
        J = np.eye(count) - np.eye(count, k=-1)
        A, u = np.zeros((3 * count, 3 * count)), np.zeros(3 * count)
        A[::3, ::3] = J @ np.diag(inverse) @ J.T
        A[1::3, 1::3] = A[2::3, 2::3] = 3.0 * A[::3, ::3]
        u[::3] = J @ -np.ones(count)
        for law in (NEWTON, POISSON, STRONGE):
            p = strike(A, u, np.linspace(0.0, 0.9, count), np.full(count, 0.5), law)
            assert np.isfinite(p).all() and (p[::3] >= 0.0).all()
            assert law != STRONGE or gained(A, u, p) <= 0.0
