"""A bad input gets one sentence that says what and where, exit code 2, and no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Ended, Pdqs

GOOD = "owner,bid,value\nann,0.1,1\nbob,0.2,0\ncat,0.3,1\n"


def assert_refused(done: Ended, says: str, left: set[str]) -> None:
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("pdqs: ")
    assert done.err.count("\n") == 1, "one sentence"
    assert says in done.err
    assert {path.name for path in Path().iterdir()} == left


MARKETS = {
    "NaN bid": (GOOD.replace("0.2", "nan"), "market.csv: row 2, column 'bid': nan is not a finite number"),
    "infinite bid": (GOOD.replace("0.2", "inf"), "market.csv: row 2, column 'bid': inf is not a finite number"),
    "bid above the range": (GOOD.replace("0.2", "1.2"), "row 2, column 'bid': 1.2 is outside the bid range 0 to 1"),
    "bid below the range": (GOOD.replace("0.2", "-0.2"), "row 2, column 'bid': -0.2 is outside the bid range 0 to 1"),
    "bid in words": (GOOD.replace("0.2", "cheap"), "market.csv: row 2, column 'bid': 'cheap' is not a number"),
    "empty bid": (GOOD.replace("0.2", ""), "market.csv: row 2, column 'bid': the cell is empty"),
    "NaN value": (GOOD.replace("bob,0.2,0", "bob,0.2,nan"), "row 2, column 'value': nan is not in the domain (0 or 1)"),
    "infinite value": (GOOD.replace("bob,0.2,0", "bob,0.2,inf"), "row 2, column 'value': inf is not in the domain"),
    "value outside": (GOOD.replace("bob,0.2,0", "bob,0.2,7"), "row 2, column 'value': 7 is not in the domain (0 or 1)"),
    "nothing": ("", "market.csv: the file is empty"),
    "header only": ("owner,bid,value\n", "market.csv: column 'bid': a market needs at least 2 owners, got 0"),
    "one owner": ("owner,bid,value\nann,0.1,1\n", "market.csv: column 'bid': a market needs at least 2 owners, got 1"),
    "owner twice": (GOOD.replace("cat", "ann"), "market.csv: row 3, column 'owner': 'ann' is already in row 1"),
    "unknown column": (GOOD.replace("value", "age"), "no column 'value': it has 'owner', 'bid', 'age'; --value-column"),
    "missing column": (
        "owner,bid\nann,0.1\nbob,0.2\n",
        "market.csv: no column 'value': it has 'owner', 'bid'; --value-column",
    ),
    "ragged": (GOOD.replace("bob,0.2,0", "bob,0.2"), "market.csv: row 2 has 2 cells, but the header names 3 columns"),
}


@pytest.mark.parametrize(("text", "says"), MARKETS.values(), ids=MARKETS)
def test_a_bad_market_is_refused_by_row_and_column(pdqs_command: Pdqs, text: str, says: str) -> None:
    Path("market.csv").write_text(text, encoding="utf-8")
    done = pdqs_command("trade", "market.csv", "--budget", 1, "--out", "out.csv", "--picture", "out.png")
    assert_refused(done, says, {"market.csv"})


def test_a_market_that_is_not_utf_8_is_refused(pdqs_command: Pdqs) -> None:
    Path("market.csv").write_bytes(GOOD.replace("bob", "bøb").encode("latin-1"))
    done = pdqs_command("trade", "market.csv", "--budget", 1, "--out", "out.csv")
    assert_refused(done, "market.csv: line 3 is not UTF-8 (byte 0xf8)", {"market.csv"})


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbf" + GOOD.encode(), GOOD.replace("\n", "\r\n").encode()])
def test_a_byte_order_mark_and_crlf_are_accepted(pdqs_command: Pdqs, raw: bytes) -> None:
    Path("plain.csv").write_text(GOOD, encoding="utf-8")
    Path("market.csv").write_bytes(raw)
    plain = pdqs_command("trade", "plain.csv", "--budget", 1, "--seed", 1, "--json")
    assert pdqs_command("trade", "market.csv", "--budget", 1, "--seed", 1, "--json").data == plain.data


TERMS = {
    "negative budget": (("--budget", "-1"), "budget must be a finite number of at least 0, got -1"),
    "NaN budget": (("--budget", "nan"), "budget must be a finite number, got nan"),
    "infinite budget": (("--budget", "inf"), "budget must be a finite number, got inf"),
    "no budget": ((), "no budget: give --budget"),
    "domain of none": (("--budget", "1", "--query", "histogram", "--domain", ""), "at least 2 categories, got 0"),
    "domain of one": (
        ("--budget", "1", "--query", "histogram", "--domain", "red"),
        "labels with commas between, got 'red'",
    ),
    "grid of one": (("--budget", "1", "--query", "median", "--domain", "5:5:1"), "at least 2 values, got 1"),
    "grid of none": (
        ("--budget", "1", "--query", "median", "--domain", "5:4:1"),
        "a grid needs a stop above its start",
    ),
    "grid of words": (("--budget", "1", "--query", "median", "--domain", "a:b:c"), "START:STOP:STEP, e.g. 14:61:1"),
    "category twice": (("--budget", "1", "--query", "histogram", "--domain", "a,b,a"), "category 3 repeats 'a'"),
    "order of none": (("--budget", "1", "--query", "median", "--domain", "a,b"), "a median needs an ordered domain"),
    "no domain": (("--budget", "1", "--query", "median"), "a median needs a --domain"),
    "domain of a count": (("--budget", "1", "--domain", "0:1"), "a count asks for 0 or 1 and takes no --domain"),
    "unknown query": (("--budget", "1", "--query", "mode"), "unknown query 'mode'"),
    "quantile of 1": (("--budget", "1", "--query", "quantile:1", "--domain", "0:9"), "a quantile needs 0 < p < 1"),
    "empty category": (("--budget", "1", "--query", "histogram", "--domain", "a,,b"), "category 2 is empty in 'a,,b'"),
    "quantile of nothing": (("--budget", "1", "--query", "quantile", "--domain", "0:9"), "as in quantile:0.9"),
    "too few past bids": (
        ("--budget", "1", "--prior", "market.csv"),
        "market.csv: a prior needs at least 10 past bids",
    ),
    "empty preset": (("--budget", "1", "--preset", ""), "unknown preset ''"),
    "quantile of words": (
        ("--budget", "1", "--query", "quantile:x", "--domain", "0:9"),
        "quantile: 'x' is not a number",
    ),
    "q_max of 1": (("--budget", "1", "--rule", "step:1"), "rule step needs 0 < q_max < 1, got 1.0"),
    "epsilon too large": (("--budget", "1", "--epsilon-max", "60"), "gives a q_max of 1"),
    "epsilon of nothing": (("--budget", "1", "--epsilon-max", "0"), "epsilon_max must be a finite number"),
    "unknown rule": (("--budget", "1", "--rule", "cubic"), "unknown rule 'cubic'"),
    "unknown rule with figures": (("--budget", "1", "--rule", "cubic:3"), "unknown rule 'cubic'"),
    "figures for none": (("--budget", "1", "--rule", "linear:3"), "rule linear takes no figures, got 'linear:3'"),
    "too many figures": (("--budget", "1", "--rule", "step:0.5:0.6"), "rule step takes at most 1 figures (q_max)"),
    "a figure in words": (("--budget", "1", "--rule", "exponential:x"), "rule exponential: 'x' is not a number"),
    "unknown clearing": (("--budget", "1", "--clearing", "fast"), "unknown clearing 'fast'"),
    "unknown contract": (("--budget", "1", "--contract", "oral"), "unknown contract 'oral'"),
    "unknown estimator": (("--budget", "1", "--estimator", "best"), "unknown estimator 'best'"),
    "unknown preset": (("--budget", "1", "--preset", "magic"), "unknown preset 'magic'"),
    "preset without a rule": (("--budget", "1", "--preset", "npqm"), "preset 'npqm' needs a learned rule"),
    "unknown prior": (("--budget", "1", "--prior", "cauchy"), "unknown prior 'cauchy'"),
    "half a prior": (("--budget", "1", "--prior", "normal:1"), "a normal prior is normal:MEAN:SD"),
    "prior of no file": (("--budget", "1", "--prior", "past.csv"), "cannot read past.csv: No such file"),
    "range of words": (("--budget", "1", "--bid-range", "a:b"), "a bid range is LOW:HIGH, e.g. 0:1, got 'a:b'"),
    "range reversed": (("--budget", "1", "--bid-range", "1:0"), "bid_range needs 0 <= low < high"),
    "level of 1": (("--budget", "1", "--level", "1"), "level must be above 0 and below 1, got 1.0"),
    "kind of file": (
        ("--budget", "1", "--out", "out.xls"),
        "out.xls is: its name must end in .csv, .tsv, .csv.gz, .tsv.gz or .parquet",
    ),
    "kind of picture": (("--budget", "1", "--picture", "a.gif"), "its name must end in .png, .svg or .pdf"),
    "no such folder": (
        ("--budget", "1", "--out", "none/out.csv"),
        "cannot write none/out.csv: there is no folder none",
    ),
}


@pytest.mark.parametrize(("words", "says"), TERMS.values(), ids=TERMS)
@pytest.mark.parametrize("command", ["clear", "trade"])
def test_bad_terms_are_refused(pdqs_command: Pdqs, command: str, words: tuple[str, ...], says: str) -> None:
    Path("market.csv").write_text(GOOD, encoding="utf-8")
    extra = () if "--out" in words else ("--out", "offers.csv")
    assert_refused(pdqs_command(command, "market.csv", *words, *extra), says, {"market.csv"})


def test_a_file_that_is_not_there_is_named(pdqs_command: Pdqs) -> None:
    assert_refused(pdqs_command("clear", "none.csv", "--budget", 1), "cannot read none.csv: No such file", set())


def test_an_answer_needs_reports_of_its_own_offers(pdqs_command: Pdqs, market: Path) -> None:
    pdqs_command("clear", market, "--budget", 12, "--out", "offers.csv")
    Path("reports.csv").write_text("owner,report\no1,1\neve,0\n", encoding="utf-8")
    left = {"market.csv", "offers.csv", "reports.csv"}
    done = pdqs_command("answer", "offers.csv", "reports.csv", "--out", "due.csv")
    assert_refused(done, "reports.csv: row 2, column 'owner': 'eve' has no offer", left)
    Path("reports.csv").write_text("owner,report\no1,1\no2,2\n", encoding="utf-8")
    done = pdqs_command("answer", "offers.csv", "reports.csv", "--out", "due.csv")
    assert_refused(done, "reports.csv: row 2, column 'report': 2 is not in the domain (0 or 1)", left)


def test_offers_of_other_terms_are_refused(pdqs_command: Pdqs, market: Path) -> None:
    pdqs_command("clear", market, "--budget", 12, "--out", "offers.csv")
    Path("reports.csv").write_text("owner,report\no1,20\n", encoding="utf-8")
    median = ("answer", "offers.csv", "reports.csv", "--query", "median", "--domain", "14:61")
    there = {"market.csv", "offers.csv", "reports.csv"}
    assert_refused(pdqs_command(*median, "--question", "value"), "is not the loss of this q on 48 values", there)
    assert_refused(pdqs_command(*median), "which the offers of a side question have", there)


def test_what_is_paid_by_the_coin_cannot_be_settled_from_reports(pdqs_command: Pdqs, market: Path) -> None:
    cleared = pdqs_command("clear", market, "--budget", 12, "--contract", "on-selection", "--out", "offers.csv")
    assert "note: no lottery goes with this clearing or contract: started from --preset sound" in cleared.err
    Path("reports.csv").write_text("owner,report\no1,1\n", encoding="utf-8")
    words = ("answer", "offers.csv", "reports.csv", "--contract", "on-selection")
    assert pdqs_command(*words).code == 0
    done = pdqs_command(*words, "--out", "due.csv")
    assert_refused(done, "pays by the coin", {"market.csv", "offers.csv", "reports.csv"})


def edited(path: str, row: int, **cells: object) -> None:
    """Write these cells into a row (from 1) of a table."""
    lines = [line.split(",") for line in Path(path).read_text(encoding="utf-8").split()]
    for name, cell in cells.items():
        lines[row][lines[0].index(name)] = str(cell)
    Path(path).write_text("\n".join(map(",".join, lines)) + "\n", encoding="utf-8")


def first_row(path: str, name: str, *, zero: bool) -> int:
    """The first row (from 1) whose cell is, or is not, 0."""
    lines = [line.split(",") for line in Path(path).read_text(encoding="utf-8").split()]
    column = lines[0].index(name)
    return next(row for row, cells in enumerate(lines[1:], start=1) if (float(cells[column]) == 0) == zero)


@pytest.mark.parametrize("out", [(), ("--out", "due.csv")], ids=["no file", "a file of payments"])
def test_offers_that_were_edited_are_refused_with_a_file_or_without(
    pdqs_command: Pdqs, market: Path, out: tuple[str, ...]
) -> None:
    left = {"market.csv", "offers.csv", "reports.csv"}
    Path("reports.csv").write_text("owner,report\no1,1\n", encoding="utf-8")

    def answered(*words: object) -> Ended:
        return pdqs_command("answer", "offers.csv", "reports.csv", *words, *out)

    pdqs_command("clear", market, "--budget", 12, "--out", "offers.csv")
    assert_refused(answered("--budget", 3), "more than these terms' budget of 3.00", left)
    asked = first_row("offers.csv", "q", zero=False)
    whole = Path("offers.csv").read_text(encoding="utf-8")
    edited("offers.csv", asked, chance=0)
    assert_refused(answered(), f"offers.csv: row {asked}, column 'chance': 0 is no chance of being asked", left)
    Path("offers.csv").write_text(whole, encoding="utf-8")
    edited("offers.csv", asked, payment=0.000001)
    assert_refused(answered(), f"offers.csv: row {asked}, column 'payment': 1e-06 is less than the owner asks", left)
    edited("offers.csv", asked, payment=40)
    assert_refused(answered("--budget", 12), "more than these terms' budget of 12.00", left)
    edited("offers.csv", asked, payment=2, bid=7)
    assert_refused(answered(), f"offers.csv: row {asked}, column 'bid': 7 is outside the bid range 0 to 1", left)


def test_a_report_from_an_owner_who_was_not_asked_names_file_and_owner(pdqs_command: Pdqs, market: Path) -> None:
    pdqs_command("clear", market, "--budget", 6, "--out", "offers.csv")
    owner = f"o{first_row('offers.csv', 'q', zero=True) - 1}"
    Path("reports.csv").write_text(f"owner,report\n{owner},1\n", encoding="utf-8")
    done = pdqs_command("answer", "offers.csv", "reports.csv")
    says = f"reports.csv: a report from owner '{owner}', who was not asked"
    assert_refused(done, says, {"market.csv", "offers.csv", "reports.csv"})


def test_where_no_report_came_nobody_is_taken_to_stand_for_others(pdqs_command: Pdqs, market: Path) -> None:
    pdqs_command("clear", market, "--budget", 12, "--out", "offers.csv")
    Path("reports.csv").write_text("owner,report\no1,\n", encoding="utf-8")
    done = pdqs_command("answer", "offers.csv", "reports.csv")
    assert "stand for" not in done.out
    assert "none of the" in done.out
    assert "reports came" in done.out


PLANS = {
    "nothing asked": ((), "give --half-width or --budget, and not both"),
    "both asked": (("--half-width", "0.02", "--budget", "5"), "give --half-width or --budget, and not both"),
    "beyond reach": (("--half-width", "0.0001"), "no budget reaches"),
    "half-width of 0": (("--half-width", "0"), "half_width must be a share above 0 and below 1"),
    "half-width of everything": (("--half-width", "2"), "half_width must be a share above 0 and below 1"),
    "budget in words": (("--budget", "much"), "Invalid value for '--budget'"),
    "unknown option": (("--bugdet", "5"), "No such option"),
    "NaN half-width": (("--half-width", "nan"), "half_width must be a finite number, got nan"),
    "negative budget": (("--budget", "-5"), "budget must be a finite number of at least 0"),
    "alpha of 0": (("--budget", "5", "--alpha", "0"), "alpha must be above 0"),
}


@pytest.mark.parametrize(("words", "says"), PLANS.values(), ids=PLANS)
def test_bad_plans_are_refused(pdqs_command: Pdqs, words: tuple[str, ...], says: str) -> None:
    assert_refused(pdqs_command("plan", "--owners", 100, *words, "--picture", "plan.png"), says, set())


def test_a_plan_needs_owners(pdqs_command: Pdqs) -> None:
    assert_refused(
        pdqs_command("plan", "--owners", 1, "--budget", 5), "owners must be a whole number of at least 2", set()
    )
    missing = pdqs_command("plan", "--budget", 5)
    assert missing.code == 2
    assert "--owners" in missing.err


def test_words_that_are_no_command_are_refused(pdqs_command: Pdqs) -> None:
    assert_refused(pdqs_command("sell"), "no command 'sell': try pdqs --help", set())
    unknown = pdqs_command("clear", "market.csv", "--colour", "red")
    assert unknown.code == 2
    assert "--colour" in unknown.err
