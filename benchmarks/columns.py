"""What docs/results.md shows of each benchmark: headings, and what a cell shows of a row."""

COLUMNS = {
    "graph": (
        {
            "store": "{store}",
            "examples": "{examples:,}",
            "ingest, examples/s": "{ingest_per_second:,}",
            "CPU of an example, client + server, µs": "{client_us} + {server_us}",
            "neighbourhood p50 / p99, ms": "{neighbourhood_ms:.1f} / {neighbourhood_p99_ms:.1f}",
            "a problem left out, ms": "{without_problem_ms:.1f}",
            "one with a tenth of all, ms": "{without_hottest_ms:.1f}",
            "best examples of the hottest pair, ms": "{hottest_examples_ms:.1f}",
            "counting when asked, ms": "{counted_when_asked_ms:.1f}",
            "recounting a batch's pairs, ms": "{batch_recounted_ms:,.0f}",
        },
    ),
    "judge_kills": (
        {
            "kills": "{kills}",
            "before the first verdict": "{before_the_first_verdict}",
            "processes left": "{processes_left}",
            "longest time to silence, s": "{longest_to_silence_s:.2f}",
            "shared memory left": "{shared_memory_left}",
            "temporary folders left": "{temporary_folders_left}",
            "broken cache entries": "{broken_cache_entries}",
            "drafts left in the cache": "{drafts_in_the_cache}",
            "clean runs": "{clean_runs}",
            "of these with other verdicts": "{clean_runs_with_other_verdicts}",
        },
    ),
    "coverage": (
        {
            "code": "{code}",
            "problem": "{problem}",
            "judgements": "{judgements}",
            "median speedup": "{median}",
            "range": "{range[0]} .. {range[1]}",
            "intervals that hold the median": "{hold_the_median}",
            "share": "{share:.1%}",
            "width of an interval, times": "{width}",
            "called faster / slower than 1": "{faster} / {slower}",
        },
    ),
}
"""Tables of a benchmark: heading -> what a cell shows of a row."""

RATES = {
    "GPUs": "{gpus}",
    "problem": "{problem}",
    "grade": "{grade}",
    "candidates": "{candidates}",
    "candidates/s": "{per_second}",
    "of the limit": "{of_limit}",
    "times one GPU": "{scaling}",
    "median of verify / time, s": "{verify_s:.3f} / {time_s:.3f}",
    "outcomes": "{outcomes}",
}
SECTIONS = {
    "aa": {
        "same": {
            "code": "{code}",
            "trials": "{trials}",
            "called different": "{called_different}",
            "verdicts": "{verdicts}",
            "rounds": "{rounds_mean}",
            "median, µs": "{median_us:.1f}",
            "spread of the workers' medians": "{workers_spread:.1%}",
            "a measurement, s": "{seconds_each:.2f}",
        },
        "planted": {
            "code": "{code}",
            "trials": "{trials}",
            "found": "{share_found:.1%}",
            "rounds": "{rounds_mean}",
            "ratio of all": "{measured_ratio:.3f}",
        },
    },
    "clocks": {
        "rows": {
            "code": "{code}",
            "launches": "{launches}",
            "judge, µs": "{judge_us:.1f}",
            "CUPTI, µs": "{cupti_us:.1f}",
            "ratio": "{ratio:.3f}",
        },
    },
    "judged": {
        "suite": {
            "target": "{target}",
            "kind": "{kind}",
            "codes": "{codes}",
            "a naive check": "{naive}",
            "screening": "{screening}",
            "full grade": "{full}",
        },
    },
    "verdicts": {
        "rows": {
            "target": "{target}",
            "problem": "{problem}",
            "state": "{state}",
            "asked": "{grade}",
            "ended at": "{ended_at}",
            "seconds": "{seconds:.2f}",
            "outcome": "{outcome}",
        },
    },
    "throughput": {
        "contexts": {
            "GPUs": "{gpus}",
            "processes": "{processes}",
            "contexts/s": "{per_second}",
        },
        "isolated": RATES,
        "full": RATES,
        "agreement": {
            "problem": "{problem}",
            "candidates": "{candidates}",
            "pool / alone: median": "{pool_median}",
            "least .. most": "{pool_least} .. {pool_most}",
            "beside compilers / alone: median": "{compiling_median}",
            "least .. most beside": "{compiling_least} .. {compiling_most}",
            "again / alone: median": "{again_median}",
            "least .. most again": "{again_least} .. {again_most}",
        },
    },
}
"""Benchmarks whose figures are several lists of rows: section -> its table."""
