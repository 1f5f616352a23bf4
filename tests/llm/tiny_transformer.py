"""Writes a sentence-transformers model of random weights: `python tiny_transformer.py FOLDER`.

A process of its own: the libraries warn on import, and a warning is an error in the tests.
"""

import sys
from pathlib import Path

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = [chr(code) for code in range(33, 127)]
LONGEST = 64


def main(folder: Path) -> None:
    """Save the model, with a vocabulary of single letters, in `folder`."""
    import torch  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer, models  # noqa: PLC0415
    from transformers import BertConfig, BertModel, BertTokenizer  # noqa: PLC0415

    torch.manual_seed(1)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = [*WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LONGEST,
    )
    bert = folder / "bert"
    BertModel(config).save_pretrained(bert)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(bert)
    words = models.Transformer(str(bert), max_seq_length=LONGEST)
    pooling = models.Pooling(words.get_word_embedding_dimension())
    SentenceTransformer(modules=[words, pooling], device="cpu").save(str(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
