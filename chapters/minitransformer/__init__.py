"""The helper package of *Transformers from the Dot Product Up*: one concept, one module, built in its chapter.

Chapter, module, and what it builds:

  1  word_vectors      counts of neighbours, PPMI, trained word vectors, PCA
  2  dot_product       cosine similarity and nearest neighbours
  3  softmax           softmax, its logarithm, entropy
  4  attention         attention with queries, keys and values
  5  self_attention    the projections that make all three from the same tokens
  6  masks             causal and padding masks, and a check for looks at the future
  7  multi_head        heads, split, attended and merged
  8  layer_norm        layer normalisation and RMSNorm
  9  residuals         the residual connection, with the norm before or after
 10  positions         sinusoidal positions, rotary positions, ALiBi
 11  feed_forward      the feed-forward network, ReLU and GELU
 12  transformer       embedding, layers and stacks, `LanguageModel` and `Transformer`
 13  gradients         cross-entropy, its gradient, and a check of any gradient
 14  training          Adam, the learning rate's schedule, dropout, and `train`
 15  translation       batches of sentence pairs, greedy decoding, beam search
 16  language_model    byte-pair encoding, sampling, the key–value cache, drafts, n-gram models
 17  inside            activation patching, ablation, the logit lens, linear probes
 18  online_attention  attention by tiles, without its table
 19  today             grouped queries, SwiGLU, experts, `Decoder`, a model of both sides
 20  answering         fine-tuning, LoRA, preferences, and rewards that a program checks
 21  public_model      GGUF files, weights in fewer bits, SmolLM2 and its encoding
 22  circuits          heads cut, tokens hidden and vectors exchanged in a large model; sinks and ranks

Besides, `pretrained` loads and saves checkpoints, `tasks` are what models are trained on, and `arrays` are checks and
files.  What one of them has is found at the top, too, `from minitransformer import LanguageModel, train`, but for a
function that is called like its module: `from minitransformer.softmax import softmax`.
"""

import importlib
import re

MODULES = [*re.findall(r"^ *\d+  (\w+)", __doc__, re.MULTILINE), "pretrained", "tasks", "arrays"]


def __getattr__(name):
    """Return the module of this name, or what the first of them has by it, or the version of the package."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version(__name__)  # imports much
    if name in MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    for module in MODULES if not name.startswith("_") else []:
        found = getattr(importlib.import_module(f"{__name__}.{module}"), name, None)
        if getattr(found, "__module__", "").startswith(__name__):
            return found
    raise AttributeError(f"{__name__} has no {name!r}; help({__name__}) lists its modules and what each builds.")
