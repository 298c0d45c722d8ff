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

INDEX = ir.IntType(32)


def single_precision(couplings: Any) -> Any:
    """Bring J[i, j, a, b] (L, L, C, C) into the layout J[i, j, b, a] of `dense_sweeps`, (L, L4, C, C8)."""
    n_sites, _, n_colors, _ = couplings.shape
    made = np.zeros((n_sites, n_sites + -n_sites % 4, n_colors, n_colors + -n_colors % 8), dtype=np.float32)
    for i in range(n_sites):
        made[i, :n_sites, :, :n_colors] = couplings[i].transpose(0, 2, 1)
    return made


def _eight(context: Any, builder: Any, types: Any, arguments: Any, array: int, place: int) -> tuple[Any, int]:
    """Return a pointer to eight numbers at a place of an array, both among the arguments, and their alignment."""
    number = context.get_value_type(types[array].dtype)
    data = context.make_array(types[array])(context, builder, arguments[array]).data
    # Rows begin at any number of the array, and so at any multiple of the bytes of one.
    pointer = builder.bitcast(builder.gep(data, [arguments[place]]), ir.VectorType(number, 8).as_pointer())
    return pointer, types[array].dtype.bitwidth // 8


def _load(builder: Any, eight: tuple[Any, int]) -> Any:
    return builder.load(eight[0], align=eight[1])


def _typed(_: Any, z: Any, place: Any, J: Any, first: Any, second: Any, third: Any, fourth: Any, factors: Any) -> Any:
    """Add to z[place : place + 8] the eight numbers at each of four places of J, times the four `factors` unless None.

    Places count through the arrays as if they had one axis.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def eight(array: int, place: int) -> tuple[Any, int]:
            return _eight(context, builder, signature.args, arguments, array, place)

        rows = [_load(builder, eight(2, k)) for k in range(3, 7)]
        if factors != types.none:
            for k in range(4):
                wide = builder.insert_element(
                    ir.Constant(rows[k].type, ir.Undefined), builder.extract_value(arguments[7], k), INDEX(0)
                )
                wide = builder.shuffle_vector(wide, wide, ir.Constant(ir.VectorType(INDEX, 8), [0] * 8))
                rows[k] = builder.fmul(wide, rows[k])
        a, b, c, d = rows
        # In two pairs, neither of which waits for the other.
        total = builder.fadd(builder.fadd(a, b), builder.fadd(c, d))
        target = eight(0, 1)
        builder.store(builder.fadd(_load(builder, target), total), target[0], align=target[1])
        return context.get_dummy_value()

    return types.void(z, place, J, first, second, third, fourth, factors), generate


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


add_eight: Any = intrinsic(_typed)
spread_eight: Any = intrinsic(_typed_spread)
sum_eight: Any = intrinsic(_typed_sum)
