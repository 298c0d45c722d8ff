"""Rows of eight numbers: couplings laid out in them, and their addition, the innermost loop of the sweeps.

The innermost loop, which adds four rows of couplings to the logits of a chain, is written by hand in the language of
LLVM (`add_eight`), because numba makes a plain loop test at every call whether the rows overlap. Per site and chain it
took 0.92 ns for L = 52, C = 21 and 0.57 ns for L = 100, C = 5; plain numba took 2.2 and 1.5 ns, with `fastmath` too.
`llvmlite.ir` is no stable interface. It was tested, against numpy, with numba 0.68.1 and llvmlite 0.50.0.
"""

from typing import Any

import llvmlite.ir as ir  # type: ignore[import-untyped]  # comes with numba, without types
import numpy as np
from numba import types
from numba.extending import intrinsic

from simulate.core.cache_lines import CACHE_LINE_BYTES, aligned_zeros
from simulate.potts.kernels.compiled import compiled

INDEX = ir.IntType(32)
NUMBERS_PER_LINE = CACHE_LINE_BYTES // 4  # in single precision, in a line of the cache


def single_precision(couplings: Any) -> Any:
    """Bring J[i, j, a, b] (L, L, C, C) into the layout J[i, j, b, a] of `dense_sweeps`, (L, L4, C, C8)."""
    n_sites, _, n_colors, _ = couplings.shape
    shape = n_sites, n_sites + -n_sites % 4, n_colors, n_colors + -n_colors % 8
    # Rows begin with a line of the cache where they can, so that sixteen numbers are read from one line and not two.
    made = aligned_zeros(shape, np.float32)
    for i in range(n_sites):
        made[i, :n_sites, :, :n_colors] = couplings[i].transpose(0, 2, 1)
    return made


def _eight(
    context: Any, builder: Any, types: Any, arguments: Any, array: int, place: int, count: int = 8
) -> tuple[Any, int]:
    """Return a pointer to `count` numbers at a place of an array, both among the arguments, and their alignment."""
    number = context.get_value_type(types[array].dtype)
    data = context.make_array(types[array])(context, builder, arguments[array]).data
    # Rows begin at any number of the array, and so at any multiple of the bytes of one.
    pointer = builder.bitcast(builder.gep(data, [arguments[place]]), ir.VectorType(number, count).as_pointer())
    return pointer, types[array].dtype.bitwidth // 8


def _load(builder: Any, eight: tuple[Any, int]) -> Any:
    return builder.load(eight[0], align=eight[1])


def _adding(count: int) -> Any:
    """Return what adds rows of `count` numbers."""

    def typed(
        _: Any, z: Any, place: Any, J: Any, first: Any, second: Any, third: Any, fourth: Any, factors: Any
    ) -> Any:
        """Add to z[place : place + count] as many numbers at each of four places of J, times the four `factors` if any.

        Places count through the arrays as if they had one axis.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def row(array: int, place: int) -> tuple[Any, int]:
                return _eight(context, builder, signature.args, arguments, array, place, count)

            rows = [_load(builder, row(2, k)) for k in range(3, 7)]
            if factors != types.none:
                for k in range(4):
                    wide = builder.insert_element(
                        ir.Constant(rows[k].type, ir.Undefined), builder.extract_value(arguments[7], k), INDEX(0)
                    )
                    wide = builder.shuffle_vector(wide, wide, ir.Constant(ir.VectorType(INDEX, count), [0] * count))
                    rows[k] = builder.fmul(wide, rows[k])
            a, b, c, d = rows
            # In two pairs, neither of which waits for the other.
            total = builder.fadd(builder.fadd(a, b), builder.fadd(c, d))
            target = row(0, 1)
            builder.store(builder.fadd(_load(builder, target), total), target[0], align=target[1])
            return context.get_dummy_value()

        return types.void(z, place, J, first, second, third, fourth, factors), generate

    return typed


def _typed_sum(_: Any, target: Any, place: Any, one: Any, first: Any, other: Any, second: Any) -> Any:
    """Set target[place : place + 8] to the sum of eight numbers at `first` of one array and at `second` of another."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def eight(array: int) -> tuple[Any, int]:
            return _eight(context, builder, signature.args, arguments, array, array + 1)

        total, (pointer, align) = builder.fadd(_load(builder, eight(2)), _load(builder, eight(4))), eight(0)
        builder.store(total, pointer, align=align)
        return context.get_dummy_value()

    return types.void(target, place, one, first, other, second), generate


def _typed_spread(_: Any, target: Any, first: Any, second: Any, z: Any, place: Any) -> Any:
    """Add z[place : place + 8] to the eight numbers at each of two places of `target`, which do not overlap."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def eight(array: int, place: int) -> tuple[Any, int]:
            return _eight(context, builder, signature.args, arguments, array, place)

        added, one, other = _load(builder, eight(3, 4)), eight(0, 1), eight(0, 2)
        totals = [builder.fadd(_load(builder, each), added) for each in (one, other)]
        for total, (pointer, align) in zip(totals, (one, other), strict=True):
            builder.store(total, pointer, align=align)
        return context.get_dummy_value()

    return types.void(target, first, second, z, place), generate


add_eight: Any = intrinsic(_adding(8))
add_sixteen: Any = intrinsic(_adding(16))
spread_eight: Any = intrinsic(_typed_spread)
sum_eight: Any = intrinsic(_typed_sum)


@compiled
def read_ahead(x: Any, first: int, last: int) -> Any:
    """Return a sum of every sixteenth number, of which a line of the cache has one.

    Chains read rows in a random order, which no processor foresees, but it fetches memory that is read in its order.
    """
    a = b = c = d = np.float32(0)
    for n in range(first, last - 63, 64):
        a, b, c, d = a + x[n], b + x[n + 16], c + x[n + 32], d + x[n + 48]
    return a + b + c + d
