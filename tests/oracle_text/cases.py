# SPDX-License-Identifier: Apache-2.0
"""What is asked of MindSpore (record.py) and of spore (test_oracle_text.py) about text."""
import random
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent

TEXTS = ["Rain, then sun: the 3rd of May was as wet as it was warm.",
         "In Köln fließt der Rhein an der Straße vorbei – „schön“, sagte Frau Müller-Lüdenscheid.",
         "今天天气很好，我们去北京大学的未名湖散步吧！",
         "Σήμερα έχει ήλιο. Завтра будет дождь; 東京では雪が降る。 नमस्ते",
         "  tabs\tand\nnew lines,   e-mails: a.b@c.org #tag 50% (x+y)^2 = ½ ﬁ ＡＢＣ ①  ",
         "", "x", "[CLS] the [unused12] Token [MASK] stays [SEP]"]

WORDS = ["the", "rain", "##s", "sun", "r", "##a", "##in", "then", "wet", "warm", "as", "it", "was", "3", "##rd", "of", "May",
         ",", ".", ":", "Rain", "今", "天", "气", "北", "京", "[UNK]", "x", "sag", "##te", "[CLS]", "[MASK]", "tabs", "and"]

TOKENIZERS = [
    "text.WhitespaceTokenizer({o})", "text.UnicodeCharTokenizer({o})", "text.UnicodeScriptTokenizer(False, {o})",
    "text.UnicodeScriptTokenizer(True, {o})", "text.RegexTokenizer('\\\\s+', '', {o})",
    "text.RegexTokenizer('[\\\\p{{P}}\\\\s]', '\\\\p{{P}}', {o})", "text.RegexTokenizer('[a-z]+', '[a-m]+', {o})",
    "text.BasicTokenizer(False, False, NormalizeForm.NONE, False, {o})",
    "text.BasicTokenizer(False, True, NormalizeForm.NFKC, False, {o})",
    "text.BasicTokenizer(True, False, NormalizeForm.NONE, False, {o})",
    "text.BasicTokenizer(False, False, NormalizeForm.NFD, True, {o})",
    "text.BertTokenizer(vocab, '##', 100, '[UNK]', False, False, NormalizeForm.NONE, False, {o})",
    "text.BertTokenizer(vocab, '##', 100, '', True, True, NormalizeForm.NONE, False, {o})",
    "text.BertTokenizer(vocab, '##', 2, '[UNK]', True, False, NormalizeForm.NONE, False, {o})",
]
CHANGES = ["text.CaseFold()", *(f"text.NormalizeUTF8(NormalizeForm.{form})" for form in ("NONE", "NFC", "NFKC", "NFD", "NFKD")),
           "text.RegexReplace('[aeiou]', '*')", "text.RegexReplace('(\\\\w+) (\\\\w+)', '$2 $1', False)",
           "text.RegexReplace('\\\\p{P}', '')", "text.RegexReplace('[\\\\p{Han}]', '_')"]

OTHERS = [
    *((f"text.WordpieceTokenizer(vocab, '##', {n}, '{u}', {o})", "['rains', 'sun', 'hail', '', '今天']")
      for n in (100, 4) for u in ("[UNK]", "") for o in (False, True)),
    ("text.Lookup(vocab)", "['sun', 'rain']"), ("text.Lookup(vocab)", "'sun'"), ("text.Lookup(vocab)", "['hail']"),
    ("text.Lookup(vocab, '[UNK]')", "[['sun', 'hail']]"), ("text.Lookup(vocab, 'nothing')", "['sun']"),
    ("text.Lookup(vocab)", "3"),
    *((f"text.Ngram({args})", words) for args in ("1", "2", "[1, 3]", "2, ('_', 1), ('!', 2), '-'", "[3, 2], ('a', 5), ('', 0), ''")
      for words in ("['a', 'b', 'c', 'd']", "['a']")),
    *((f"text.SlidingWindow({n})", value) for n in (1, 2, 4) for value in ("np.arange(4)", "['a', 'b', 'c']")),
    ("text.SlidingWindow(2)", "np.zeros((2, 3))"),
    *((f"text.ToNumber(ms.{t})", value) for t in ("int32", "float32", "uint8", "int64", "float16") for value in
      ("['1', '22']", "'-3'", "'1.75'", "'300'", "'x'", "''", "'1e3'")),
    *((f"text.Truncate({n})", value) for n in (1, 3, 9) for value in ("['a', 'b', 'c', 'd']", "np.arange(10).reshape(2, 5)")),
    ("text.Truncate(2)", "np.array(3)"),
    *((f"text.AddToken('T', {b})", value) for b in (True, False) for value in ("['a', 'b']", "[['a'], ['b']]", "'a'")),
    ("text.PythonTokenizer(lambda s: s.split(','))", "np.array('a,b')"),
    ("text.CaseFold()", "['Ab', 'CD']"), ("text.CaseFold()", "3"), ("text.WhitespaceTokenizer()", "['a b']"),
    ("text.to_str", "np.array([b'a', b'\\xc3\\xa9'])"), ("text.to_bytes", "np.array(['a', 'é'])"),
    ("vocab.tokens_to_ids", "['sun', 'hail', 'rain']"), ("vocab.ids_to_tokens", "[0, 3, 99]"), ("vocab.tokens_to_ids", "'sun'"),
]
PAIRS = [(n, a, b) for n in (0, 1, 3, 5, 9) for a, b in (("np.arange(4)", "np.arange(2)"), ("np.arange(1)", "np.arange(5)"),
                                                         ("['a', 'b', 'c']", "['d', 'e', 'f']"))]
# on the words of a text
OF_WORDS = [
    "text.Lookup(vocab, '[UNK]')", "text.Ngram([2, 3], ('_', 1), ('!', 2), '-')", "text.SlidingWindow(3)", "text.Truncate(4)",
    "text.AddToken('[CLS]', True)", "text.AddToken('[SEP]', False)", "text.WordpieceTokenizer(vocab)", "text.CaseFold()",
    "lambda words: text.ToNumber(ms.int32)([str(len(word)) for word in words])",
    "lambda words: text.TruncateSequencePair(7)(words[::2], words[1::2])", "vocab.tokens_to_ids",
    "lambda words: vocab.ids_to_tokens([len(word) for word in words])", "lambda words: text.to_str(text.to_bytes(np.array(words)))",
    "lambda words: text.PythonTokenizer(lambda line: line.split('a'))(np.array(' '.join(words)))",
    "lambda words: text.Vocab.from_list(sorted(set(words)), ['<pad>', '<unk>'], False).tokens_to_ids(words)",
    "lambda words: text.FilterWikipediaXML()(' '.join(words))", "lambda words: text.FilterWikipediaXML()('<a>' + ' '.join(words) + '</a>')",
    *(f"text.ToVectors(text.{kind}.from_file(files + '/{name}'{most}){how})"
      for kind, name in (("GloVe", "glove.6B.4d.txt"), ("FastText", "tiny.vec"), ("CharNGram", "charNgram.txt"), ("Vectors", "word2vec.txt"),
                         ("Vectors", "glove.6B.4d.txt")) for most in ("", ", 20")
      for how in ("", ", [0.5, -1, 2, 7]", ", None, True", ", [0.5, -1, 2, 7], True")),
]


def write_vectors(folder):
    """Vectors of four numbers for WORDS and for parts of words, in the files of GloVe, fastText, word2vec and CharNGram."""
    rng = random.Random(5)
    rows = [" ".join([word, *(f"{rng.uniform(-2, 2):.4f}" for _ in range(4))]) for word in WORDS]
    parts = sorted({part for line in TEXTS for word in line.split() for n in (2, 3, 4)
                    for part in (f"{n}gram-{word[i:i + n]}" for i in range(0, len(word) - n + 1, 2))})
    grams = [" ".join([part, *(f"{rng.uniform(-2, 2):.4f}" for _ in range(4))]) for part in parts]
    for name, lines in (("glove.6B.4d.txt", rows), ("tiny.vec", [f"{len(rows)} 4", *rows]), ("word2vec.txt", [f"{len(rows)} 4", *rows]),
                        ("charNgram.txt", grams)):
        (Path(folder) / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


_folders = []  # of vectors; kept until the process ends


def scope(text, ms):
    """Names for the expressions."""
    _folders.append(tempfile.TemporaryDirectory())
    write_vectors(_folders[-1].name)
    return {"text": text, "np": np, "ms": ms, "NormalizeForm": text.NormalizeForm, "vocab": text.Vocab.from_list(WORDS),
            "files": _folders[-1].name}


def questions():
    """(key, expression, inputs as expressions)"""
    for i, value in enumerate(TEXTS):
        for expression in TOKENIZERS:
            for o in (False, True):
                yield f"{i}|{expression}|{o}", expression.format(o=o), [repr(value)]
        for expression in CHANGES:
            yield f"{i}|{expression}", expression, [repr(value)]
        if value.split():
            yield from ((f"words|{i}|{expression}", expression, [repr(value.split())]) for expression in OF_WORDS)
    for expression, value in OTHERS:
        yield f"{expression}|{value}", expression, [value]
    for n, a, b in PAIRS:
        yield f"pair|{n}|{a}|{b}", f"text.TruncateSequencePair({n})", [a, b]


def plain(value):
    """A result as JSON has it: [dtype, values], with one name for strings of any length."""
    if isinstance(value, (tuple, list)) and any(isinstance(v, np.ndarray) for v in value):
        return [plain(v) for v in value]
    array = np.asarray(value)
    if array.dtype.kind == "S":
        return ["bytes", np.char.decode(array, "latin1").tolist()]
    return ["str" if array.dtype.kind == "U" else str(array.dtype), array.tolist()]


def answer(expression, inputs, names):
    """What comes of it; the exception's name if there is one."""
    try:
        return plain(eval(expression, names)(*(eval(i, names) for i in inputs)))
    except Exception as error:  # whatever it is, it is recorded
        return type(error).__name__
