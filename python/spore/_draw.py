# SPDX-License-Identifier: Apache-2.0
"""Small pictures without a plotting library: an RGB canvas with text, lines and gray images, written as PNG."""
import struct
import zlib

import numpy as np

# 3 x 5 dots a character, rows from the top, as digits of base 8.
_FONT = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71122",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644",
    "G": "34553", "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", ".": "00002", ",": "00024", "%": "51245", "-": "00700",
    ":": "02020", "/": "11244", "=": "07070", "(": "24442", ")": "21112", "+": "02720", "_": "00007", " ": "00000",
}


def png(pixels):
    """The bytes of a PNG file: uint8, height x width, with one, three or four colours or without that axis."""
    pixels = pixels if pixels.ndim == 3 else pixels[:, :, None]
    height, width, colours = pixels.shape
    rows = b"".join(b"\0" + pixels[i].tobytes() for i in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[colours], 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


class Canvas:
    """A white picture of height x width dots."""

    def __init__(self, height, width):
        self.pixels = np.full((height, width, 3), 255, np.uint8)

    def text(self, y, x, words, color=(40, 40, 40), scale=2):
        """Write upper-case text with its top left corner at (y, x)."""
        for char in str(words).upper():
            rows = _FONT.get(char, "77777")
            for dy, row in enumerate(rows):
                for dx in range(3):
                    if int(row) >> (2 - dx) & 1:
                        self.rectangle(y + dy * scale, x + dx * scale, scale, scale, color)
            x += 4 * scale

    def rectangle(self, y, x, height, width, color):
        """Fill a rectangle; what lies outside is cut off."""
        self.pixels[max(y, 0):max(y + height, 0), max(x, 0):max(x + width, 0)] = color

    def gray(self, y, x, image, scale=2):
        """Show a gray image with values in 0..1, dark on white."""
        big = np.kron(255 - np.clip(image, 0, 1) * 255, np.ones((scale, scale))).astype(np.uint8)
        self.pixels[y:y + big.shape[0], x:x + big.shape[1]] = big[:, :, None]

    def curve(self, y, x, height, width, values, color=(200, 60, 30)):
        """Draw values over their index into a frame."""
        self.rectangle(y, x, height, 1, (160, 160, 160))
        self.rectangle(y + height - 1, x, 1, width, (160, 160, 160))
        values = np.asarray(values, float)
        if len(values) < 2:
            return
        top = float(values.max()) or 1.0
        columns = np.linspace(0, len(values) - 1, width)
        heights = np.interp(columns, np.arange(len(values)), values) / top * (height - 4)
        before = None
        for i, value in enumerate(heights):
            row = y + height - 2 - int(value)
            low, high = (row, row) if before is None else (min(row, before), max(row, before))
            self.rectangle(low - 1, x + i, high - low + 2, 2, color)
            before = row

    def save(self, path):
        """Write the picture as a PNG file."""
        with open(path, "wb") as file:
            file.write(png(self.pixels))
