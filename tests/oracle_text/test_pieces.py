# SPDX-License-Identifier: Apache-2.0
"""SentencePieceTokenizer gives MindSpore 2.10's pieces and numbers. pieces.model was trained on a page of these docs (unigram, no
normalisation); pieces.json holds text, pieces and numbers as MindSpore gave them with it. Needs the package sentencepiece, as the class does."""
import json
from pathlib import Path

import pytest

from spore.dataset import text

HERE = Path(__file__).parent


@pytest.mark.parametrize("row", json.loads((HERE / "pieces.json").read_text(encoding="utf-8")), ids=lambda row: row[0])
def test_pieces(row):
    pytest.importorskip("sentencepiece")
    sentence, pieces, numbers = row
    kinds = text.SPieceTokenizerOutType
    made = [text.SentencePieceTokenizer(str(HERE / "pieces.model"), out_type=kind)(sentence) for kind in (kinds.STRING, kinds.INT)]
    assert [str(piece) for piece in made[0]] == pieces and made[1].tolist() == numbers
