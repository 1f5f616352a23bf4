"""load_inline of torch: seconds from a CUDA source text to the end of its first call.

`python benchmarks/load_inline.py`; prints one JSON object, on the last line. The folder for
compiled extensions is empty. The kernel is that of problems/matmul-device/candidates/tiles.cu,
behind the binding that load_inline wants. Importing torch is timed apart. Needs torch (with CUDA),
ninja, nvcc and a GPU; without torch it says so and measures nothing.
"""

import json
import os
import tempfile
import time
from importlib import import_module
from pathlib import Path

SOURCE = Path(__file__).parent / "problems" / "matmul-device" / "candidates" / "tiles.cu"
SIDE = 512
DECLARATION = "torch::Tensor multiplied(torch::Tensor a, torch::Tensor b);"
BINDING = """
#include <torch/extension.h>
torch::Tensor multiplied(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty({a.size(0), b.size(1)}, a.options());
    matmul(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(),
           a.size(0), b.size(1), a.size(1));
    return c;
}
"""


def main() -> None:
    start = time.perf_counter()
    try:
        torch = import_module("torch")
    except ImportError:
        print(json.dumps({"torch": "not installed"}))
        return
    imported = time.perf_counter()
    a, b = (torch.rand(SIDE, SIDE, device="cuda") for _ in range(2))
    torch.cuda.synchronize()
    ready = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCH_EXTENSIONS_DIR"] = folder
        module = import_module("torch.utils.cpp_extension").load_inline(
            name="multiplied",
            cpp_sources=DECLARATION,
            cuda_sources=SOURCE.read_text() + BINDING,
            functions=["multiplied"],
        )
        loaded = time.perf_counter()
        c = module.multiplied(a, b)
        torch.cuda.synchronize()
        called = time.perf_counter()
        right = bool(torch.allclose(c, a @ b, rtol=1e-2))
    row = {
        "torch": torch.__version__,
        "import_s": round(imported - start, 2),
        "context_s": round(ready - imported, 2),
        "load_s": round(loaded - ready, 2),
        "first_call_s": round(called - loaded, 4),
        "right": right,
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main()
