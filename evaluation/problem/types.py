"""Element types: their C++ spellings, their numpy types, and arrays of them in parts and in fp64.

A bool is a byte that is 0 or 1, as C++ has it: any other byte, the poison of an output too, is
wrong. A complex number is two floats, real part first, as std::complex is laid out.

Not covered: bfloat16, which neither numpy nor g++ 12 knows; `char` is signed, as on x86.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  #: one array of a call

Integer = Literal["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
_Other = Literal["bool", "char", "size_t", "complex64", "complex128", "float16", "struct"]
Type = Literal["float32", "float64", Integer, _Other]
C_TYPES: dict[Type, str] = {
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "bool": "bool",
    "char": "char",
    "size_t": "size_t",
    "complex64": "std::complex<float>",
    "complex128": "std::complex<double>",
    "float16": "_Float16",
    "struct": "struct",
}
"""Element type -> its C++ spelling, g++'s where compilers differ."""
CUDA_TYPES = C_TYPES | {"float16": "__half"}  #: the same for nvcc
WIDER: dict[Type, Type] = {"float16": "float64", "float32": "float64", "complex64": "complex128"}
"""Type -> that of the reference, where it is another one."""
_STORED = {"bool": "uint8", "char": "int8", "size_t": "uint64"}
"""Type -> its numpy name, where that is another one."""
_WORDS = (8, 4, 2, 1)
_Scaled = Literal["small", "large", "tiny", "huge", "huge negative", "outliers", "shifted"]
_Ordered = Literal["ascending", "descending", "nearly ascending"]
_Chosen = Literal["sentinels", "coarse", "equal", "extremes", "ends", "skewed", "uneven", "whole"]
Alteration = Literal[_Scaled, _Ordered, _Chosen, "negative", "negative zeros"]
"""A way of altering drawn inputs as a whole (alterations.py)."""


def record_of(fields: Mapping[str, Type]) -> np.dtype[Any]:
    """How numpy holds a struct, laid out as C++ does."""
    return np.dtype([(name, dtype_of(kind)) for name, kind in fields.items()], align=True)


def dtype_of(kind: Type) -> np.dtype[Any]:
    """How numpy holds an element."""
    return np.dtype(_STORED.get(kind, kind))


def is_inexact(kind: Type) -> bool:
    """Whether elements are rounded: floats and complex numbers."""
    return dtype_of(kind).kind in "fc"


def is_whole(kind: Type) -> bool:
    """Whether elements are integers that count something: no bool, no char."""
    return kind not in ("bool", "char", "struct") and dtype_of(kind).kind in "iu"


def is_rounded(array: Array) -> bool:
    return array.dtype.kind in "fc"


def parts(array: Array) -> Array:
    """A flat view of the real and imaginary parts, in turn; of other types of the elements."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def wide(array: Array) -> Array:
    """The array in fp64; complex numbers become complex128."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def bits(array: Array) -> Array:
    """The same memory as unsigned words, of whatever type its elements are; it is contiguous."""
    word = next(size for size in _WORDS if array.itemsize % size == 0)
    return array.reshape(-1).view(f"u{word}")
