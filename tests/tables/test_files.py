"""Tables on disk: read whole or refused by row and column, written whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.model.errors import FileError, InputError, MissingExtraError, PdqsError
from pdqs.tables import files, round_files

BIDS = b"owner,bid,value\nann,0.1,1\nbob,0.2,0\ncat,0.3,1\n"


@pytest.fixture
def bids_file(tmp_path: Path) -> Path:
    path = tmp_path / "bids.csv"
    path.write_bytes(BIDS)
    return path


def read(path: Path) -> files.Table:
    return files.read_table(path, ("owner", "bid"), optional=("value",))


def test_a_plain_file_gives_its_columns(bids_file: Path) -> None:
    table = read(bids_file)
    assert table.columns["owner"] == ["ann", "bob", "cat"]
    assert table.bids((0.0, 1.0)).tolist() == [0.1, 0.2, 0.3]
    assert pdqs.Domain.binary().encode(table.values(pdqs.Domain.binary())).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbf" + BIDS,
        BIDS.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + BIDS.replace(b"\n", b"\r\n"),
        BIDS.rstrip(b"\n"),
        BIDS + b"\n\n",
        b"value,owner,bid\n1,ann,0.1\n0,bob,0.2\n1,cat,0.3\n",
        b'"owner","bid","value"\n"ann","0.1","1"\n"bob","0.2","0"\n"cat","0.3","1"\n',
        b"owner, bid, value\nann, 0.1, 1\nbob, 0.2, 0\ncat, 0.3, 1\n",
        BIDS.replace(b",1\n", b",True\n").replace(b",0\n", b",False\n"),
    ],
    ids=[
        "byte-order mark",
        "CRLF",
        "both",
        "no last newline",
        "blank end",
        "other order",
        "quotes",
        "spaces",
        "truths",
    ],
)
def test_the_usual_variants_of_csv_read_the_same(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "bids.csv"
    path.write_bytes(raw)
    table = read(path)
    assert table.columns["owner"] == ["ann", "bob", "cat"]
    assert table.floats("bid").tolist() == [0.1, 0.2, 0.3]
    assert pdqs.Domain.binary().encode(table.values(pdqs.Domain.binary())).tolist() == [1, 0, 1]


def test_owners_keep_their_letters(tmp_path: Path) -> None:
    path = tmp_path / "bids.csv"
    path.write_text('owner,bid\nŻaneta,0.1\n"Smith, Ann",0.2\n', encoding="utf-8")
    assert read(path).columns["owner"] == ["Żaneta", "Smith, Ann"]


REFUSED = {
    "nothing at all": (b"", r"bids.csv: the file is empty"),
    "blank lines only": (b"\n\n", r"bids.csv: the file is empty"),
    "not UTF-8": (b"owner,bid\nann,0.1\nb\xf6b,0.2\n", r"bids.csv: line 3 is not UTF-8 \(byte 0xf6\)"),
    "UTF-16": (BIDS.decode().encode("utf-16"), r"bids.csv: line 1 is not UTF-8 \(byte 0xff\)"),
    "another column": (b"owner,price,age\na,1,2\n", r"no column 'bid': it has 'owner', 'price', 'age'$"),
    "a missing column": (b"owner,value\na,1\n", r"no column 'bid': it has 'owner', 'value'$"),
    "no names": (b",\na,1\n", r"no column 'owner': it has none with a name$"),
    "a column twice": (b"owner,bid,bid\na,1,2\n", r"the header names column 'bid' twice"),
    "colons": (b"owner:bid\na:1\n", r"no column 'owner': it has 'owner:bid'$"),
    "a short row": (b"owner,bid,value\na,1,1\nb,1\n", r"row 2 has 2 cells, but the header names 3 columns"),
    "a long row": (b"owner,bid\na,1\nb,1,7\n", r"row 2 has 3 cells, but the header names 2 columns"),
    "a blank row": (b"owner,bid\na,1\n\nb,1\n", r"row 2 is blank"),
    "an empty cell": (b"owner,bid\na,1\nb,\n", r"row 2, column 'bid': the cell is empty"),
    "an empty owner": (b"owner,bid\n,1\nb,1\n", r"row 1, column 'owner': the cell is empty"),
    "an owner twice": (b"owner,bid\na,1\nb,1\na,0.5\n", r"row 3, column 'owner': 'a' is already in row 1"),
    "an open quote": (b'owner,bid\na,1\n"b,1\n', r"line 3 is not CSV: unexpected end of data"),
}


@pytest.mark.parametrize(("raw", "message"), REFUSED.values(), ids=REFUSED)
def test_a_bad_file_is_refused_by_row_and_column(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "bids.csv"
    path.write_bytes(raw)
    with pytest.raises(PdqsError, match=message):
        read(path)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("nan", r"bids.csv: row 2, column 'bid': nan is not a finite number"),
        ("inf", r"bids.csv: row 2, column 'bid': inf is not a finite number"),
        ("-inf", r"bids.csv: row 2, column 'bid': -inf is not a finite number"),
        ("cheap", r"bids.csv: row 2, column 'bid': 'cheap' is not a number"),
        ("1.5", r"bids.csv: row 2, column 'bid': 1.5 is outside the bid range 0 to 1"),
        ("-0.1", r"bids.csv: row 2, column 'bid': -0.1 is outside the bid range 0 to 1"),
    ],
)
def test_a_bad_bid_is_named(tmp_path: Path, cell: str, message: str) -> None:
    path = tmp_path / "bids.csv"
    path.write_text(f"owner,bid\na,0.1\nb,{cell}\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read(path).bids((0.0, 1.0))


@pytest.mark.parametrize(
    ("cell", "domain"),
    [
        ("2", pdqs.Domain.binary()),
        ("maybe", pdqs.Domain.binary()),
        ("nan", pdqs.Domain.grid(0, 10, 1)),
        ("inf", pdqs.Domain.grid(0, 10, 1)),
        ("10.5", pdqs.Domain.grid(0, 10, 1)),
        ("11", pdqs.Domain.grid(0, 10, 1)),
        ("red", pdqs.Domain.categories(["1", "green"])),
    ],
)
def test_a_value_outside_the_domain_is_named(tmp_path: Path, cell: str, domain: pdqs.Domain) -> None:
    path = tmp_path / "bids.csv"
    path.write_text(f"owner,bid,value\na,0.1,1\nb,0.2,{cell}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"bids.csv: row 2, column 'value': "), files.naming(path):
        domain.encode(read(path).values(domain))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*none.csv: No such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(FileError, match=r"cannot read .*none.parquet: No such file"):
        read(tmp_path / "none.parquet")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match=r"cannot read .*folder.csv: Is a directory"):
        read(tmp_path / "folder.csv")


def test_an_unknown_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"must end in .csv, .tsv, .csv.gz, .tsv.gz or .parquet"):
        read(tmp_path / "bids.xlsx")
    with pytest.raises(FileError, match=r"must end in .csv, .tsv, .csv.gz, .tsv.gz or .parquet"):
        files.write_table(tmp_path / "offers.txt", {"owner": ["a"]})
    assert list(tmp_path.iterdir()) == []


# Parquet


def test_parquet_reads_as_csv_does(tmp_path: Path, bids_file: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bids.parquet"
    parquet.write_table(arrow.table({"owner": ["ann", "bob", "cat"], "bid": [0.1, 0.2, 0.3], "value": [1, 0, 1]}), path)
    ours, theirs = read(path), read(bids_file)
    assert ours.columns["owner"] == theirs.columns["owner"]
    assert ours.floats("bid").tolist() == theirs.floats("bid").tolist()
    binary = pdqs.Domain.binary()
    assert binary.encode(ours.values(binary)).tolist() == binary.encode(theirs.values(binary)).tolist()


def test_parquet_of_numbers_meets_categories_of_text(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bids.parquet"
    parquet.write_table(arrow.table({"owner": [1, 2], "bid": [0.1, 0.2], "value": [10, 20]}), path)
    assert read(path).values(pdqs.Domain.categories(["10", "20"])) == ["10", "20"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"owner": ["a", None], "bid": [0.1, 0.2]}, r"row 2, column 'owner': the cell is empty"),
        ({"owner": ["a", "b"], "bid": [0.1, None]}, r"row 2, column 'bid': the cell is empty"),
        ({"owner": ["a", "a"], "bid": [0.1, 0.2]}, r"row 2, column 'owner': 'a' is already in row 1"),
        ({"owner": [7, 7], "bid": [0.1, 0.2]}, r"row 2, column 'owner': '7' is already in row 1"),
        ({"owner": ["a"], "price": [0.1]}, r"no column 'bid': it has 'owner', 'price'$"),
        ({"owner": ["a"]}, r"no column 'bid'"),
    ],
)
def test_bad_parquet_is_refused_by_row_and_column(
    tmp_path: Path, columns: dict[str, list[object]], message: str
) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bids.parquet"
    parquet.write_table(arrow.table(columns), path)
    with pytest.raises(InputError, match=message):
        read(path)


def test_a_file_that_only_says_it_is_parquet_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "bids.parquet"
    path.write_bytes(BIDS)
    with pytest.raises(FileError, match=r"bids.parquet is not Parquet"):
        read(path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pdqs\[scale\]'"):
        read(tmp_path / "bids.parquet")
    with pytest.raises(MissingExtraError, match=r"pip install 'pdqs\[scale\]'"):
        files.write_table(tmp_path / "offers.parquet", {"owner": ["a"]})
    assert list(tmp_path.iterdir()) == []


# Offers and reports


def made_offers(domain: pdqs.Domain | None = None) -> pdqs.Offers:
    query = pdqs.Count() if domain is None else pdqs.Median(domain)
    return pdqs.clear([0.1, 0.2, 0.3, 0.9], pdqs.presets.sound(query=query, budget=2.0, question="value"))


@pytest.mark.parametrize("kind", files.KINDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(bids=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=30), budget=st.floats(0.0, 40.0))
def test_offers_come_back_bit_for_bit(tmp_path: Path, kind: str, bids: list[float], budget: float) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    offers = pdqs.clear(bids, pdqs.presets.sound(query=pdqs.Count(), budget=budget, rule="linear"))
    owners = [f"owner {i}" for i in range(len(bids))]
    path = tmp_path / f"offers{kind}"
    files.write_table(path, round_files.offer_columns(owners, offers))
    named, back = round_files.read_offers(path, pdqs.Domain.binary())
    assert named == owners
    assert np.array_equal(back.bids, offers.bids)
    assert np.array_equal(back.q, offers.q)
    assert np.array_equal(back.epsilon, offers.epsilon)
    assert np.array_equal(back.payment_micros, offers.payment_micros)


@pytest.mark.parametrize(
    ("name", "cell", "message"),
    [
        ("q", "1", r"row 2, column 'q': 1 is not a chance of at least 0 and below 1"),
        ("q", "-0.5", r"row 2, column 'q': -0.5 is not a chance"),
        ("q", "0.1", r"row 2, column 'q': 0.1 is not a multiple of 2\^-32"),
        ("q", "0.5", r"row 2, column 'epsilon': .* is not the loss of this q on 2 values"),
        ("payment", "-1", r"row 2, column 'payment': -1 is not an amount of money"),
        ("payment", "1e300", r"row 2, column 'payment': 1e\+300 is not an amount of money"),
        ("bid", "nan", r"row 2, column 'bid': nan is not a finite number"),
    ],
)
def test_tampered_offers_are_refused(tmp_path: Path, name: str, cell: str, message: str) -> None:
    columns = {k: list(v) for k, v in round_files.offer_columns(["a", "b", "c", "d"], made_offers()).items()}
    columns[name][1] = cell
    files.write_table(tmp_path / "offers.csv", columns)
    with pytest.raises(InputError, match=message):
        round_files.read_offers(tmp_path / "offers.csv", pdqs.Domain.binary())


def test_offers_for_another_domain_are_refused(tmp_path: Path) -> None:
    ages = pdqs.Domain.grid(14, 61, 1)
    files.write_table(tmp_path / "offers.csv", round_files.offer_columns(["a", "b", "c", "d"], made_offers(ages)))
    assert round_files.read_offers(tmp_path / "offers.csv", ages)[1].bought
    with pytest.raises(InputError, match=r"is not the loss of this q on 2 values: another domain or question made it"):
        round_files.read_offers(tmp_path / "offers.csv", pdqs.Domain.binary())


def test_a_market_of_one_offer_is_refused(tmp_path: Path) -> None:
    columns = {
        name: cells[:1] for name, cells in round_files.offer_columns(["a", "b", "c", "d"], made_offers()).items()
    }
    files.write_table(tmp_path / "offers.csv", columns)
    with pytest.raises(InputError, match=r"a market needs at least 2 owners, got 1"):
        round_files.read_offers(tmp_path / "offers.csv", pdqs.Domain.binary())


def test_reports_find_their_owners_and_the_absent_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("owner,report\nc,1\na,0\nd,\n", encoding="utf-8")
    reports = round_files.read_reports(path, ["a", "b", "c", "d"], pdqs.Domain.binary())
    assert reports.arrived.tolist() == [True, False, True, False]
    assert reports.codes[reports.arrived].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("owner,report\na,1\neve,1\n", r"row 2, column 'owner': 'eve' has no offer"),
        ("owner,report\na,1\na,1\n", r"row 2, column 'owner': 'a' is already in row 1"),
        ("owner,report\na,\nb,7\n", r"row 2, column 'report': 7 is not in the domain"),
        ("owner,value\na,1\n", r"no column 'report': it has 'owner', 'value'$"),
    ],
)
def test_bad_reports_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "reports.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        round_files.read_reports(path, ["a", "b"], pdqs.Domain.binary())


# Writing


def test_columns_of_unequal_length_write_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        files.write_table(tmp_path / "out.csv", {"owner": ["a", "b"], "bid": [1.0]})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write .*none.offers.csv: No such file"):
        files.write_text(tmp_path / "none" / "offers.csv", "text")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match=r"cannot write .*folder.csv: it is a folder"):
        files.write_text(tmp_path / "folder.csv", "text")
