"""What the tests begin with, do and expect of the explorable "writer"."""

import base64

import numpy as np

from minitransformer.explorables.writer.state import packed
from minitransformer.feed_forward import gelu
from minitransformer.softmax import softmax
from minitransformer.transformer import LanguageModel, embed, head

SHOWN = 6


class Encoding:
    merges = []
