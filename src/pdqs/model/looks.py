"""What words look like to the person who reads them: letters of many scripts by the Latin ones that they look like.

Two answers that look the same let a market say later which of them was meant; so nobody is asked to choose between
them. The tables are made for labels: they hold what passes for a Latin letter, a digit or a common sign in the usual
fonts, and they keep the case, for "o" and "O" are two answers. Nothing is said against a label in several scripts
("CO\u2082", "\u03b1-blocker", Japanese): only against one that could be taken for another of the same list. The
browser's twin: ``owner/browser/words.mjs``, with the same tables.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from pdqs.model.domain import Domain

LOOKALIKES: Final = (
    "a\u0251\u0430\u03b1\u237a b\u044c\u0185\u03b2\u13cf\u1472 \u0299\u0432 c\u0441\u03f2\u1d04\u2ca5"
    " d\u0501\u13e7\u146f e\u0435\u03b5\u04bd\u212e f\ua799\u0584\uab35 g\u0261\u0581\u018d"
    " h\u03b7\u04bb\u0570\u13c2 \u029c\u043d i\u0456\u13a5 \u0131\u0269\u03b9\ua647 j\u0458\u03f3\u0575"
    " k\u043a\u03ba\u1d0b\u0138\u2c95 l\u04cf\u2223\u01c0\u2502\u05d5\u0627\u0661\u06f1\u07ca\u2d4f"
    " m\u043c\u03bc\u1d0d\u2c99 n\u043f\u0578 o\u043e\u03bf\u0585\u101d\u10ff\u1d0f\u1d11\u05e1\u0647"
    "\u0665\u06f5\uab3d\U0001042c\u2c9f p\u0440\u03c1\u03f1\u2ca3 q\u051b\u0566 r\u0433\u1d26\u2c85\uab47"
    " s\u0455\ua731\U00010448 t\u0442\u03c4\u1d1b u\u057d\u03c5\u028b\u1d1c\uab4e\uab52 v\u03bd\u0475\u1d20\u0667\u06f7"
    "\u2228\u22c1 w\u051d\u03c9\u1d21\u0561 x\u0445\u03c7\u00d7\u166e\u2cad y\u0443\u03b3\u10e7\u028f"
    " z\u03b6\u1d22 A\u0410\u0391\u13aa\u15c5\ua4ee\u2c80 B\u0412\u0392\u13f4\u15f7\ua4d0\u2c82"
    " C\u0421\u03f9\u13df\u1455\ua4da\u2ca4 D\u13a0\u15de\ua4d3 E\u0415\u0395\u13ac\u2d39\ua4f0\u22ff"
    " F\u03dc\ua4dd\ua798\u15b4 G\u050c\u13c0\ua4d6 H\u041d\u0397\u13bb\u157c\ua4e7\u2c8e"
    " I\u0406\u0399\u04c0\ua4f2\u2c92\u16c1 J\u0408\u037f\u13ab\u148d\ua4d9 K\u041a\u039a\u13e6\u16d5\ua4d7\u2c94"
    " L\u13de\u14aa\ua4e1\u053c M\u041c\u039c\u13b7\u15f0\u16d6\ua4df\u2c98\u03fa N\u039d\ua4e0\u2c9a"
    " O\u041e\u039f\u0555\u2c9e\ua4f3\u12d0\u2d54\U00010404\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6"
    "\u0d66\u0e50\u0ed0\u1040\u17e0\u3007 P\u0420\u03a1\u13e2\u146d\ua4d1\u2ca2 Q\u051a\u2d55"
    " R\u13a1\u1587\ua4e3\u01a6 S\u0405\u054f\u13da\ua4e2 T\u0422\u03a4\u13a2\ua4d4\u2ca6\u22a4"
    " U\u054d\u1200\u144c\ua4f4\u222a\u22c3 V\u0474\u13d9\u142f\ua4e6 W\u051c\u13b3\ua4ea"
    " X\u0425\u03a7\u166d\u2cac\ua4eb\u2d5d\u16b7\u2573 Y\u03a5\u04ae\u13a9\ua4ec\u2ca8 Z\u0396\u13c3\ua4dc"
    " 2\u01a7\u03e8\u14bf 3\u0417\u04e0\u01b7 4\u13ce 5\u01bc 6\u0431\u13ee 8\u0222\u09ea\u0a6a 9\u09ed"
    " '\u2018\u2019\u201b\u2032\u02b9\u02bb\u02bc\u02bd\u055a\ua78c -\u2010\u2012\u2013\u2014\u2015\u2212\u2043\u02d7"
    " .\u0660\u06f0\ua4f8 ,\u201a\u066b :\u0589\u05c3\ua789\u2236\u02d0 /\u2044\u2215\u2571\u29f8 !\u01c3 ?\u0294"
    " *\u2217\u204e\u066d ~\u223c\u301c \u4e00\u30fc \u4e8c\u30cb \u53e3\u30ed \u5de5\u30a8 \u529b\u30ab \u5915\u30bf"
    " \u535c\u30c8 \u516b\u30cf \u3078\u30d8 \u308a\u30ea \u624d\u30aa \u5343\u30c1"
)
"""A sign, and those that look like it, with their marks and forms taken apart (NFKD). Of two letters of one alphabet
that look like the same Latin one it holds one at most: words of that language are to be told apart."""

UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U00013446\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""What shows nothing and is no space: all that the Unicode standard calls Default_Ignorable_Code_Point (in its file
DerivedCoreProperties.txt), an empty pattern of Braille, and controls of annotations and of hieroglyphs."""

TURNING: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Marks that turn the direction of writing, so that a text is read in another order than it was written in."""

FINEST: Final = 1e-11
"""The least step of a grid, as a part of its largest number: twelve digits are shown, and values look different."""

RAISED: Final = (
    "\u00aa\u00b2\u00b3\u00b9\u00ba\u02b0-\u02b8\u02e0-\u02e4\u10fc\u1d2c-\u1d2e\u1d30-\u1d3a\u1d3c-\u1d4d\u1d4f-\u1d61\u1d78\u1d9b-\u1dbf"
    "\u2070\u2071\u2074-\u207f\u2120\u2122\u2c7d\u2d6f\u3192-\u319f\ua69c\ua69d\ua770\ua7f1-\ua7f4\ua7f8\ua7f9\uab5c-\uab5f\uab69"
    "\U00010781-\U00010785\U00010787-\U000107b0\U000107b2-\U000107ba\U0001e030-\U0001e050\U0001e06b-\U0001e06d\U0001f16a-\U0001f16c"
)
LOWERED: Final = "\u1d62-\u1d6a\u2080-\u208e\u2090-\u209c\u2c7c\U0001e051-\U0001e06a"
"""Signs above and below the line (by Unicode, forms <super> and <sub> of others): beside what stands on it they are
told from that, and from one another as those are which they are forms of. By themselves they are not."""

CYRILLIC_APART: Final = "\u0435\u04bd\u0417\u04e0"
"""Letters of Cyrillic, two and two, that look like the same sign of Latin and that an alphabet has both of: in labels
of Cyrillic alone those who read it tell them from one another. From e and 3, which both look like, nobody does."""

_SAME = "two of the answers look the same, so that nobody could tell which she gives"
_LIKE = str.maketrans({each: group[0] for group in LOOKALIKES.split() for each in group[1:]})
_UNSEEN = re.compile(f"[{UNSEEN}]")
_TURNING = re.compile(f"[{TURNING}]")
_NOBODYS = re.compile("[\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]")  # shown as boxes, if at all
_SPACES = re.compile("[\t-\r \x85\u1680\u2028\u2029]+")
_ALIKE_IN_LATIN = str.maketrans("I1|0", "lllO")
_APART = str.maketrans(dict.fromkeys(CYRILLIC_APART, "\x03"))
_LIKE_BUT_APART = {sign: head for sign, head in _LIKE.items() if sign not in _APART}
_OFF_THE_LINE = re.compile(f"[{RAISED}{LOWERED}]")
_RAISED = re.compile(f"[{RAISED}]")
_LATIN = re.compile("[ -~\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0130\u0132-\u0137\u0139-\u017e]*")
_RINGS = str.maketrans("\u00b0\u02da", "\u2070\u2070")
_MOST_QUOTED = 30


def seen(label: str) -> str:
    """A label as it looks: forms of a letter and its look-alikes as one, what is invisible left out.

    >>> seen("e\N{COMBINING ACUTE ACCENT}") == seen("\N{LATIN SMALL LETTER E WITH ACUTE}\N{ZERO WIDTH SPACE} ")
    True
    >>> seen("\u0422ea"), seen("\N{ZERO WIDTH SPACE}")
    ('Tea', '')
    """
    return _shown(label, _LIKE)


def _shown(label: str, like: dict[int, str]) -> str:
    bare = _UNSEEN.sub("", label).translate(_RINGS)
    marked = _OFF_THE_LINE.sub(_marked, bare) if _OFF_THE_LINE.sub("", bare).strip() else bare
    shown = unicodedata.normalize("NFKD", marked.translate(like)).translate(like)
    return _SPACES.sub(" ", _NOBODYS.sub("\ufffd", shown)).strip(" ")


def _marked(sign: re.Match[str]) -> str:
    """What a sign off the line is a form of, told from that by a control character, which no label holds.

    So small, the letter o and a nought are both a ring.
    """
    mark = "\x01" if _RAISED.match(sign[0]) else "\x02"
    return "".join(mark + each for each in unicodedata.normalize("NFKD", sign[0]).replace("o", "0"))


def _is_cyrillic(label: str) -> bool:
    return all("\u0400" <= sign <= "\u052f" for sign in label if sign.isalpha())


def _is_latin(label: str) -> bool:
    """Whether all of a label is what is typed in a language of Western and Central Europe."""
    return _LATIN.fullmatch(unicodedata.normalize("NFC", label)) is not None


def fault_of_labels(labels: Iterable[str]) -> str:
    """What is wrong with a list of answers as people see them, in a sentence; nothing where all can be told apart.

    Letters and digits that look alike in Latin itself (I and l, O and 0) are told apart where both labels are plain
    Latin: lists of codes and of years have them. Where another script has a part in it they are not. Each label is
    looked at once, however many look much like it.

    >>> fault_of_labels(["tea", "HIV", "\N{CYRILLIC CAPITAL LETTER EN}IV"])
    'answers 2 and 3 (“HIV” and “\u041dIV”) look the same, so that nobody could tell which she gives'
    >>> fault_of_labels(["I", "l", "1", "O", "0", "CO\u2082", "\u03b1-blocker", "10\u00b2", "102"])
    ''
    """
    groups: dict[str, tuple[str, dict[str, tuple[int, str]]]] = {}
    for place, label in enumerate(labels, start=1):
        form = seen(label)
        if not form:
            return f"answer {place} shows nothing, so that nobody could tell which she gives"
        readers, own = _as_read(label, form)
        readers_before, before = groups.setdefault(form.translate(_ALIKE_IN_LATIN), (readers, {}))
        same = before.get(own) if readers and readers == readers_before else next(iter(before.values()), None)
        if same is not None:
            both = f"{_quoted(same[1])} and {_quoted(label)}"
            return f"answers {same[0]} and {place} ({both}) look the same, so that nobody could tell which she gives"
        before[own] = place, label
    return ""


def _as_read(label: str, form: str) -> tuple[str, str]:
    """Who tells a label from others that look much like it, and by what; nobody, where it is in neither script.

    Readers of Latin do so by letter and digit; readers of Cyrillic by the letters of their alphabet, where none of them
    stands in the place of a digit or sign of the other label.
    """
    if _is_latin(label):
        return "Latin", form
    if not _is_cyrillic(label):
        return "", form
    own = _shown(label, _LIKE_BUT_APART).translate(_ALIKE_IN_LATIN)
    return f"Cyrillic {own.translate(_APART)}", own


def _quoted(label: str) -> str:
    """What shows of a label, inside a sentence which it neither turns around nor fills."""
    plain = _NOBODYS.sub("\ufffd", _UNSEEN.sub("", label))
    return f"“{plain if len(plain) <= _MOST_QUOTED else plain[: _MOST_QUOTED - 1] + '…'}”"


def fault_of_answers(domain: Domain) -> str:
    """The same of a domain, whose numbers must be far enough apart to look different as well.

    >>> fault_of_answers(Domain(kind="grid", start=1e12, step=1e-9, size=3))
    'two of the answers look the same, so that nobody could tell which she gives'
    """
    if domain.kind != "grid":
        return fault_of_labels(map(str, domain.labels))
    largest = max(abs(domain.start), abs(domain.start + domain.step * (domain.size - 1)))
    return "" if domain.step >= FINEST * largest else _SAME


def is_turned(text: str) -> bool:
    """Whether a text holds a mark that turns the direction of writing.

    >>> is_turned("1-5"), is_turned("\N{RIGHT-TO-LEFT MARK}5\N{RIGHT-TO-LEFT MARK}-1")
    (False, True)
    """
    return _TURNING.search(text) is not None
