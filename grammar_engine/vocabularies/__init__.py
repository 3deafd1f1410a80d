"""Loaders: from the file or object of a tokenizer to the bytes of its tokens, one module per family.

    huggingface          tokenizer.json, `tokenizers.Tokenizer`, tokenizers of `transformers`
    tiktoken_encoding    `tiktoken.Encoding`
    sentencepiece_model  `.model` files, `SentencePieceProcessor`
    files                tells the kind of a file from its content; Tekken and plain JSON tables are read there
    builtin              the vocabulary that ships with this package

    saved                the files of `Vocabulary.save`

Each but the last returns `Parts`; `Vocabulary` checks them. Nothing here imports a tokenizer library before it is needed.
"""
