"""A published model in the book's own functions: GGUF files, fewer bits, SmolLM2, its encoding; built in chapter 21."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .encoding import ByteLevelEncoding
from .gguf import Q4_0, Q4_1, Q8_0, dequantise_q4_0, dequantise_q4_1, dequantise_q8_0, dequantised, read_gguf
from .loading import load_gguf
from .rounding import dequantise, quantise
from .smollm2 import chat_ids, chat_prompt, load_smollm2
