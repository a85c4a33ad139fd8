"""What makes a colour legible on another; without the book's own packages, as the helper's tests run without them."""

import numpy as np


def luminance(colour):
    """Return the relative luminance of a colour, #rrggbb."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(a, b):
    """Return the contrast of two colours, as WCAG defines it."""
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)
