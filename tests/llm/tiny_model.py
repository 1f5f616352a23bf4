"""A language model of 300 KB with random weights, so that a real Ollama can be tested with no download.

Its tokenizer has one token a byte. `stops` is the pull towards the end token, which the first
embedding column carries: it is the same for every token, so its output weights act as a bias.
"""

from pathlib import Path

import numpy as np

LAYERS, WIDTH, HEADS, INNER, CONTEXT = 2, 64, 4, 128, 16_384
SPECIAL = ("<unk>", "<s>", "</s>")
END = 2
LETTERS = range(ord("a"), ord("z") + 1)


def write_tiny_model(path: Path, *, stops: float) -> None:
    """Write a llama-architecture GGUF file that ends an answer the sooner, the larger `stops`."""
    import gguf

    random = np.random.default_rng(7)
    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]

    def matrix(*shape: int) -> np.ndarray:
        return random.normal(0, 0.2, shape).astype(np.float32)

    embedding, output = matrix(len(tokens), WIDTH), matrix(len(tokens), WIDTH)
    embedding[:, 0] = 2
    output[:, 0] = -1
    output[[len(SPECIAL) + letter for letter in LETTERS], 0] = 1
    output[END, 0] = stops

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(0)
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{block}.{name}.weight", matrix(WIDTH, WIDTH))
        writer.add_tensor(f"{block}.ffn_gate.weight", matrix(INNER, WIDTH))
        writer.add_tensor(f"{block}.ffn_up.weight", matrix(INNER, WIDTH))
        writer.add_tensor(f"{block}.ffn_down.weight", matrix(WIDTH, INNER))
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}.{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
