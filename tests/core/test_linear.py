"""Products, factors and eigenvalues in one order of sums, against NumPy's; and that the order is the one that is meant."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from mcsim.core import linear
from mcsim.core.linear import (
    Cholesky,
    Singular,
    determinant,
    dot,
    eigen,
    eigenvalues,
    inverse,
    least,
    length,
    lengths,
    product,
    solve,
    turned,
)

SIZES = 1, 2, 3, 4, 5, 7, 8, 9, 13, 40, 101


def matrix(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).normal(size=shape)


def definite(n, seed=0):
    a = matrix(n, n, seed=seed)
    return a @ a.T + 0.1 * np.eye(n)


def in_order(a, b):
    """a . b from the first term to the last."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:]):
        total += x * y
    return total


# ---- products --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((2, 5, 2, 3), (2, 5, 3, 1)),
        ((5, 2, 3), (3,)),
        ((0, 3), (3, 2)),
        ((2, 0), (0, 3)),
        ((0, 2, 3), (0, 3, 2)),
        ((3, 0), (0,)),
        ((1, 1), (1, 1)),
        ((9, 13), (13,)),
        ((17, 6), (6, 5)),
    ],
)
def test_products_are_those_of_the_operator(a, b):
    x, y = matrix(*a), matrix(*b, seed=1)
    np.testing.assert_allclose(product(x, y), x @ y, rtol=1e-13, atol=1e-14)
    assert np.shape(product(x, y)) == np.shape(x @ y)


def test_products_of_several_and_of_lists():
    a, b, c = matrix(3, 4), matrix(4, 2), matrix(2, 5)
    np.testing.assert_allclose(product(a, b, c), a @ b @ c, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(product([[1, 2], [3, 4]], [1, 1]), [3, 7])
    assert dot((1, 2, 3), [4, 5, 6]) == 32.0 and length((3, 4)) == 5.0
    np.testing.assert_allclose(lengths(matrix(2, 5, 3)), np.linalg.norm(matrix(2, 5, 3), axis=-1))


def test_each_sum_goes_from_the_first_term_to_the_last():
    """Whatever the path that sizes choose: four terms at a time, eight rows, transposed and strided factors."""
    for m, k, n in itertools.product((1, 3, 8, 17), (1, 2, 4, 5, 9, 16), (1, 2, 7)):
        a, b = matrix(m, k) * 10.0 ** matrix(m, k, seed=2), matrix(k, n, seed=1)
        wanted = np.array([[in_order(row, column) for column in b.T] for row in a])
        assert np.array_equal(product(a, b), wanted)
        assert np.array_equal(product(np.asfortranarray(a), b[:, ::-1]), wanted[:, ::-1])
        assert np.array_equal(product(a, b[:, 0]), wanted[:, 0]) and np.array_equal(product(a[0], b), wanted[0])
        assert product(a[0], b[:, 0]) == wanted[0, 0]
        assert np.array_equal(product(np.stack([a, a]), b), np.stack([wanted, wanted]))


def test_turned_takes_each_vector_by_its_own_matrix():
    a, x = matrix(4, 3, 2), matrix(4, 2)
    np.testing.assert_allclose(turned(a, x), np.einsum("nij,nj->ni", a, x), rtol=1e-13, atol=1e-14)
    assert turned(np.zeros((0, 3, 3)), np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(("a", "b"), [((2, 3), (2, 3)), ((3,), (2,)), ((4, 2, 3), (5, 3, 2)), ((4, 2, 3), (4, 2, 2))])
def test_what_does_not_fit_is_refused(a, b):
    with pytest.raises(ValueError, match="do not fit"):
        product(np.zeros(a), np.zeros(b))


# ---- solves ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_solves(n):
    a, b, columns = matrix(n, n), matrix(n, seed=1), matrix(n, 3, seed=2)
    np.testing.assert_allclose(a @ solve(a, b), b, atol=1e-9)
    np.testing.assert_allclose(a @ solve(a, columns), columns, atol=1e-9)
    np.testing.assert_allclose(a @ inverse(a), np.eye(n), atol=1e-9)
    np.testing.assert_allclose(determinant(a), np.linalg.det(a), rtol=1e-9)
    s = definite(n)
    np.testing.assert_allclose(s @ Cholesky(s).solve(b), b, atol=1e-8)
    np.testing.assert_allclose(s @ Cholesky(s).solve(columns), columns, atol=1e-8)


def test_panels_do_what_one_column_after_the_other_would():
    """The numbers of an elimination by columns, to the bit."""
    for n in (3, 4, 5, 8, 11):
        a = matrix(n, n)
        wanted = a.copy()
        right = np.eye(n)
        order = list(range(n))
        for p in range(n):
            best = p + int(np.argmax(np.abs(wanted[p:, p])))
            wanted[[p, best]], order[p], order[best] = wanted[[best, p]], order[best], order[p]
            for i in range(p + 1, n):
                wanted[i, p] /= wanted[p, p]
                wanted[i, p + 1 :] -= wanted[i, p] * wanted[p, p + 1 :]
        x = right[order]
        for i in range(n):
            for k in range(i):
                x[i] -= wanted[i, k] * x[k]
        for i in range(n - 1, -1, -1):
            for k in range(i + 1, n):
                x[i] -= wanted[i, k] * x[k]
            x[i] /= wanted[i, i]
        assert np.array_equal(inverse(a), x)


def test_stacks_are_their_matrices():
    a = matrix(4, 3, 3)
    assert np.array_equal(inverse(a), np.stack([inverse(part) for part in a]))
    assert np.array_equal(determinant(a), [determinant(part) for part in a])
    s = a + a.swapaxes(1, 2)
    assert np.array_equal(eigenvalues(s), np.stack([eigenvalues(part) for part in s]))
    assert inverse(np.zeros((0, 3, 3))).shape == (0, 3, 3) and solve(np.zeros((0, 0)), np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("bad", [np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0]), np.full((2, 2), np.nan)])
def test_singular_ones_are_refused(bad):
    with pytest.raises(Singular):
        inverse(bad)
    with pytest.raises(Singular):
        Cholesky(bad)
    assert not abs(determinant(bad)) > 0.0


def test_indefinite_ones_have_no_factor():
    with pytest.raises(Singular, match="positive definite"):
        Cholesky([[1.0, 2.0], [2.0, 1.0]])


# ---- the least solution ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 5), (9, 4), (4, 9), (1, 1), (3, 1), (1, 3), (40, 40)])
def test_least_solutions(shape):
    a, b = matrix(*shape), matrix(shape[0], seed=1)
    x, independent = least(a, b)
    np.testing.assert_allclose(x, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-8, atol=1e-10)
    assert len(independent) == min(shape) and np.array_equal(independent, np.sort(independent))


@pytest.mark.parametrize("rank", [1, 2, 5])
@pytest.mark.parametrize("shape", [(8, 8), (12, 7), (7, 12)])
def test_the_least_of_many_solutions(shape, rank):
    a = matrix(shape[0], rank) @ matrix(rank, shape[1], seed=3)
    b = matrix(shape[0], seed=1)
    x, independent = least(a, b)
    np.testing.assert_allclose(x, np.linalg.pinv(a, rcond=1e-10) @ b, rtol=1e-8, atol=1e-10)
    assert len(independent) == rank and np.linalg.matrix_rank(a[:, independent]) == rank


@pytest.mark.parametrize("shape, rank", [((6, 6), 6), ((9, 4), 4), ((4, 9), 4), ((8, 8), 3), ((7, 12), 2)])
def test_several_right_sides_are_solved_as_each_alone(shape, rank):
    a = matrix(shape[0], rank) @ matrix(rank, shape[1], seed=3)
    b = matrix(shape[0], 5, seed=1)
    x, independent = least(a, b)
    for column in range(5):
        alone, order = least(a, b[:, column])
        assert np.array_equal(x[:, column], alone) and np.array_equal(independent, order)
    assert least(a, b[:, :0])[0].shape == (shape[1], 0)


def test_nothing_to_solve():
    x, independent = least(np.zeros((3, 3)), [1.0, 2.0, 3.0])
    assert not np.any(x) and len(independent) == 0
    assert least(np.zeros((0, 0)), np.zeros(0))[0].shape == (0,)


# ---- eigenvalues -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_eigenvalues_and_vectors(n):
    for s in (
        definite(n),
        matrix(n, n) + matrix(n, n).T,
        np.diag(np.arange(n) - 2.0),
        np.ones((n, n)),
        np.zeros((n, n)),
        1e200 * definite(n),
        1e-200 * definite(n),
        np.diag(10.0 ** np.linspace(-12, 12, n)),
    ):
        values, vectors = eigen(s)
        size = np.abs(values).max() or 1.0
        np.testing.assert_allclose(values, np.linalg.eigvalsh(s), atol=1e-13 * n * size, rtol=0)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-13 * n)
        np.testing.assert_allclose(vectors * (values / size) @ vectors.T, s / size, atol=1e-13 * n)
        assert np.all(np.diff(values) >= 0.0)


def test_one_triangle_is_read():
    s = definite(6)
    assert np.array_equal(eigen(s)[0], eigen(np.tril(s))[0])


def test_what_is_not_finite_has_none():
    with pytest.raises(Singular, match="not finite"):
        eigen([[np.nan]])


def test_nothing_that_is_given_is_written():
    a, b = definite(5), matrix(5)
    kept = a.copy(), b.copy()
    for made in (
        lambda: solve(a, b),
        lambda: inverse(a),
        lambda: determinant(a),
        lambda: Cholesky(a).solve(b),
        lambda: least(a, b),
        lambda: eigen(a),
        lambda: product(a, b),
        lambda: linear.turned(a[None], b[None]),
    ):
        made()
        assert np.array_equal(a, kept[0]) and np.array_equal(b, kept[1])


# ---- sparse ----------------------------------------------------------------------------------------------------------


def entries_by_turn(a, b):
    """a b, each sum from the first term of a row of a to the last, no product fused with an addition."""
    out = np.zeros((a.shape[0], b.shape[1]))
    rows = a.tocsr()
    for i in range(a.shape[0]):
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            for k in range(b.shape[1]):
                out[i, k] += rows.data[j] * b[rows.indices[j], k]
    return out


@pytest.mark.parametrize("shape", [(5, 7, 3), (1, 1, 1), (0, 4, 2), (6, 0, 2), (9, 9, 9)])
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_sparse_products_have_one_order(shape, layout):
    """With a vector, a matrix and another sparse matrix, by rows or by columns, also where entries cancel; and each is what
    SciPy has, to rounding."""
    m, n, k = shape
    rng = np.random.default_rng(m)
    dense_a, dense_b = rng.normal(size=(m, n)), rng.normal(size=(n, k))
    dense_a[rng.random((m, n)) < 0.5] = 0.0
    dense_b[rng.random((n, k)) < 0.5] = 0.0
    if n > 1:
        dense_b[1], dense_a[:, 1] = -dense_b[0], dense_a[:, 0]
    a, b = (csr_array(matrix).asformat(layout) for matrix in (dense_a, dense_b))
    expected = entries_by_turn(a, dense_b)
    assert np.array_equal(linear.sparse_product(a, dense_b), expected)
    assert np.array_equal(linear.sparse_product(a, b).toarray(), expected)
    assert np.allclose((a @ b).toarray(), expected, rtol=1e-13, atol=1e-14)
    if k:
        assert np.array_equal(linear.sparse_product(a, dense_b[:, 0]), expected[:, 0])


def test_sparse_products_of_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2,\) do not fit"):
        linear.sparse_product(csr_array(np.ones((2, 3))), np.ones(2))
    with pytest.raises(ValueError):
        linear.sparse_product(csr_array(np.ones((2, 3))), csr_array(np.ones((2, 3))))
