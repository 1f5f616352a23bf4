"""A language model of 0.5 MB with random weights: tests real servers with no download.

Its tokenizer has one token a byte. `stops` is the pull towards the end token: the first embedding
column is the same for every token, so that its output weights act as a bias.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gguf import GGUFWriter

LAYERS, WIDTH, HEADS, INNER, CONTEXT = 2, 64, 4, 128, 5120
SPECIAL = ("<unk>", "<s>", "</s>")
UNKNOWN, START, END = range(3)
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
TOKENS = [*SPECIAL, *BYTES]
LETTERS = [len(SPECIAL) + letter for letter in range(ord("a"), ord("z") + 1)]


def write_tiny_model(path: Path, *, stops: float, context: int = CONTEXT) -> None:
    """Write a llama-architecture GGUF file that ends an answer the sooner, the larger `stops`.

    It holds `context` tokens.
    """
    from gguf import GGUFWriter  # noqa: PLC0415

    writer = GGUFWriter(path, "llama")
    _describe(writer, context)
    for name, tensor in _tensors(stops).items():
        writer.add_tensor(f"{name}.weight", tensor.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer: "GGUFWriter", context: int) -> None:
    from gguf import LlamaFileType, TokenType  # noqa: PLC0415

    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(TOKENS))
    writer.add_file_type(LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([0.0] * len(TOKENS))
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL]
    writer.add_token_types([*kinds, *[TokenType.BYTE] * len(BYTES)])
    writer.add_unk_token_id(UNKNOWN)
    writer.add_bos_token_id(START)
    writer.add_eos_token_id(END)


def _tensors(stops: float) -> dict[str, NDArray[np.float64]]:
    random = np.random.default_rng(7)

    def matrix(*shape: int) -> NDArray[np.float64]:
        return random.normal(0, 0.2, shape)

    embedding, output = matrix(len(TOKENS), WIDTH), matrix(len(TOKENS), WIDTH)
    embedding[:, 0] = 2
    output[:, 0] = -1
    output[LETTERS, 0] = 1
    output[END, 0] = stops
    tensors = {"token_embd": embedding, "output": output, "output_norm": np.ones(WIDTH)}
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensors[f"{block}.{name}"] = matrix(WIDTH, WIDTH)
        tensors[f"{block}.ffn_gate"] = matrix(INNER, WIDTH)
        tensors[f"{block}.ffn_up"] = matrix(INNER, WIDTH)
        tensors[f"{block}.ffn_down"] = matrix(WIDTH, INNER)
        tensors[f"{block}.attn_norm"] = np.ones(WIDTH)
        tensors[f"{block}.ffn_norm"] = np.ones(WIDTH)
    return tensors
