"""What a model is asked: text files, and what fills them in."""
