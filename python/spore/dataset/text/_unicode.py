# SPDX-License-Identifier: Apache-2.0
"""What Python's library lacks of Unicode: scripts, and properties within regular expressions.

MindSpore uses ICU, whose expressions know \\p{...} and \\x{...}; both are translated to what ``re`` knows. Scripts are told
from the names of characters, which begin with them.
"""
import functools
import re
import sys
import unicodedata

_LONG = {'Letter': 'L', 'Mark': 'M', 'Number': 'N', 'Punctuation': 'P', 'Symbol': 'S', 'Separator': 'Z', 'Other': 'C'}
_HAN = ('CJK UNIFIED', 'CJK COMPATIBILITY IDEOGRAPH', 'KANGXI', 'CJK RADICAL', 'IDEOGRAPHIC ITERATION', 'IDEOGRAPHIC ZERO',
        'IDEOGRAPHIC CLOSING', 'HANGZHOU NUMERAL')


@functools.lru_cache(maxsize=4096)
def script(char):
    """Name of a character's script; 'Common' for digits, punctuation and the like, 'Inherited' for marks."""
    name = unicodedata.name(char, '')
    kind = unicodedata.category(char)
    if name.startswith(_HAN) or char == '\u3005':
        return 'Han'
    if kind in ('Mn', 'Me') and name.startswith('COMBINING'):
        return 'Inherited'
    if kind[0] not in 'LM' or not name:
        return 'Common'
    words = name.split()
    if words[0] in ('FULLWIDTH', 'HALFWIDTH', 'MODIFIER', 'MATHEMATICAL', 'DOUBLE-STRUCK'):
        known = [w for w in words[1:] if w in ('LATIN', 'KATAKANA', 'HANGUL')]
        return known[0].capitalize() if known else 'Common'
    if words[0] in ('FEMININE', 'MASCULINE'):
        return 'Latin'
    if 'PROLONGED SOUND MARK' in name or words[0] in ('MICRO', 'OHM', 'KELVIN', 'ANGSTROM'):
        return {'KELVIN': 'Latin', 'ANGSTROM': 'Latin', 'OHM': 'Greek'}.get(words[0], 'Common')
    return words[0].capitalize()


_LAST = 0x323AF  # behind it are no letters, digits or signs, only what is private, not assigned or not seen


def _ranges(test, last=_LAST):
    """A character class of all characters up to a last one for which test is true."""
    out, start = [], None
    for code in range(last + 2):
        hit = code <= last and not 0xD800 <= code <= 0xDFFF and test(chr(code))
        if hit and start is None:
            start = code
        elif not hit and start is not None:
            out.append(f"\\U{start:08x}" if code == start + 1 else f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    return ''.join(out)


@functools.lru_cache(maxsize=None)
def _property(name):
    """What stands for \\p{name} within brackets."""
    name = name.split('=')[-1].replace('Script_Extensions', '').strip()
    category = _LONG.get(name, name)
    if re.fullmatch(r'[LMNPSZC][a-z]?', category):
        return _ranges(lambda c: unicodedata.category(c).startswith(category),
                       sys.maxunicode if category[0] in 'CM' else _LAST)
    if name.lower() in ('han', 'hiragana', 'katakana', 'latin', 'greek', 'cyrillic', 'hangul', 'arabic', 'hebrew', 'thai',
                        'devanagari', 'armenian', 'bengali', 'georgian', 'common'):
        return _ranges(lambda c: script(c) == name.capitalize())
    if name.lower() in ('alphabetic', 'alpha'):
        return _ranges(str.isalpha)
    if name.lower() in ('white_space', 'space'):
        return _ranges(str.isspace)
    raise RuntimeError(f"the property \\p{{{name}}} of regular expressions is not known")


@functools.lru_cache(maxsize=256)
def compile_pattern(pattern):
    """A regular expression in ICU's language, compiled."""
    out, depth, i = [], 0, 0
    while i < len(pattern):
        found = re.compile(r'\\([pP])(?:\{(\^?)([^}]*)\}|(\w))|\\x\{([0-9a-fA-F]+)\}').match(pattern, i)
        if found:
            if found[5]:
                out.append(f"\\U{int(found[5], 16):08x}")
            else:
                negative = (found[1] == 'P') != bool(found[2])
                inside = _property(found[3] or found[4])
                if depth and negative:
                    raise RuntimeError(f"\\P within brackets is not possible: {pattern}")
                out.append(inside if depth else f"[{'^' if negative else ''}{inside}]")
            i = found.end()
            continue
        char = pattern[i]
        if char == '\\':
            out.append(pattern[i:i + 2])
            i += 2
            continue
        if char == '[':
            if depth:  # a set within a set is a union in ICU
                depth += 1
                i += 1
                continue
            depth = 1
        elif char == ']' and depth:
            depth -= 1
            if depth:
                i += 1
                continue
        out.append(char)
        i += 1
    try:
        return re.compile(''.join(out))
    except re.error as error:
        raise RuntimeError(f"the regular expression {pattern!r} is not valid: {error}") from None


def is_space(char):
    """Unicode's white space."""
    return char.isspace() and char not in '\x1c\x1d\x1e\x1f'


def case_fold(text):
    """Lower case for comparing, compatibility forms composed, what is not seen dropped (NFKC_Casefold)."""
    for _ in range(2):
        text = unicodedata.normalize('NFKC', text).casefold()
    text = unicodedata.normalize('NFKC', text)
    return ''.join(c for c in text if not (unicodedata.category(c) == 'Cf' and c not in '\u0600\u0601\u0602\u0603\u06dd')
                   and not '\ufe00' <= c <= '\ufe0f')
