"""Names of functions that loops call, by what they mean to a loop."""

MATH = frozenset(
    {
        *("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "hypot"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "erf"),
        *("erfc", "tgamma", "lgamma", "fmod", "remainder", "rsqrt", "sincos", "polar"),
        *("sqrtf", "expf", "exp2f", "logf", "log2f", "log10f", "powf", "sinf", "cosf", "tanf"),
        *("asinf", "acosf", "atanf", "atan2f", "tanhf", "erff", "fmodf", "rsqrtf", "cbrtf"),
        *("hypotf", "log1pf", "expm1f", "sinhf", "coshf", "sincosf", "rhypotf"),
    }
)
"""Costly functions of numbers."""

FAST_MATH = frozenset(
    {
        *("__expf", "__logf", "__log2f", "__sinf", "__cosf", "__tanf", "__powf", "__fdividef"),
        *("__frcp_rn", "__fsqrt_rn", "__frsqrt_rn", "__exp10f", "__sincosf", "__saturatef"),
    }
)
FUSED = frozenset({"fma", "fmaf", "__fmaf_rn", "__fma_rn"})

HARMLESS = frozenset(
    {
        *("min", "max", "abs", "fabs", "fabsf", "fmin", "fmax", "fminf", "fmaxf", "floor", "ceil"),
        *("floorf", "ceilf", "round", "roundf", "lround", "lroundf", "trunc", "truncf", "clamp"),
        *("isnan", "isinf", "isfinite", "signbit", "copysign", "get", "make_float2", "norm"),
        *("make_float4", "make_pair", "real", "imag", "conj", "popcount", "omp_get_thread_num"),
        *("omp_get_num_threads", "omp_get_max_threads", "omp_get_wtime", "isalpha", "toupper"),
        *("tolower", "isdigit", "size_t", "int", "float", "double", "distance", "move", "assert"),
        *("uint8_t", "uint16_t", "uint32_t", "uint64_t", "int32_t", "int64_t", "long", "unsigned"),
        *("rint", "nearbyint", "ldexp", "fdim", "strlen", "memcmp", "strcmp", "bit_cast", "char"),
        *("short", "bool", "make_tuple", "forward", "isspace", "isalnum"),
    }
    | FUSED
)
"""Functions that only compute something from their arguments."""
COMPUTING = MATH | FAST_MATH | HARMLESS

GROWING = frozenset(
    {
        *(".push_back", ".emplace_back", ".pop_back", ".push", ".pop", ".insert", ".erase"),
        *(".emplace", ".resize", ".clear", ".append", ".push_front", ".pop_front"),
    }
)
"""Methods that change a container's length."""

ASKING = frozenset(
    {
        *(".size", ".length", ".data", ".begin", ".end", ".cbegin", ".cend", ".empty", ".at"),
        *(".get", ".c_str", ".real", ".imag", ".front", ".back", ".count", ".find", ".contains"),
        *(".rows", ".cols", ".norm", ".dot", ".first", ".capacity", ".time_since_epoch", ".top"),
        ".value",
    }
)
"""Methods that change nothing."""

LOOKUPS = frozenset({".at", ".front", ".back", ".top", ".find", ".count", ".contains"})
"""Methods of `ASKING` that read elements."""

UNORDERED = frozenset(
    {
        *("rand", "random", "drand48", "printf", "fprintf", "getchar", "fread", "puts", "fputs"),
        *("fwrite", "putchar", "cout", "cerr", "clog", "cin"),
    }
)
"""Functions and streams whose uses must stay in order."""

ALGORITHMS = frozenset(
    {
        *("accumulate", "reduce", "transform", "transform_reduce", "inner_product", "for_each"),
        *("count", "count_if", "find", "find_if", "any_of", "all_of", "none_of", "fill", "copy"),
        *("copy_if", "min_element", "max_element", "minmax_element", "iota", "generate"),
        *("inclusive_scan", "exclusive_scan", "partial_sum", "adjacent_difference", "replace_if"),
        *("remove_if", "partition", "reverse", "equal", "mismatch", "find_if_not", "fill_n"),
    }
)
"""Loops of the standard library."""
REDUCTIONS = frozenset(
    {
        *("accumulate", "reduce", "transform_reduce", "inner_product", "count", "count_if"),
        *("min_element", "max_element", "minmax_element"),
    }
)
SORTS = frozenset({"sort", "stable_sort", "nth_element", "partial_sort", "sort_by_key"})
COPIES = frozenset({"memcpy", "memmove", "copy", "copy_n"})
