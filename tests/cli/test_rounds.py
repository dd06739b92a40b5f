"""clear, trade and answer: the flow of a round in files, the same as in Python."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import pdqs
from pdqs.model import columns
from pdqs.model.arrays import Column, Floats, Integers
from pdqs.model.domain import Domain
from pdqs.tables import files, round_files

from .conftest import Pdqs

SOUND = ("--preset", "sound")


def columns_of(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", newline="") as source:
        rows = list(csv.reader(source))
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def terms_of(budget: float) -> pdqs.Terms:
    return pdqs.presets.sound(query=pdqs.Count(), budget=budget)


def test_clear_writes_the_offers_that_python_makes(pdqs_command: Pdqs, market: Path) -> None:
    done = pdqs_command("clear", *SOUND, market, "--budget", 12, "--out", "offers.csv")
    assert done.code == 0
    assert "wrote offers.csv" in done.out
    written = columns_of(Path("offers.csv"))
    read = columns_of(market)
    offers = pdqs.clear([float(b) for b in read["bid"]], terms_of(12.0), owners=read["owner"])
    assert list(written) == ["owner", "bid", "q", "epsilon", "payment", "chance", "draw"]
    assert written["owner"] == columns_of(market)["owner"]
    assert [float(q) for q in written["q"]] == offers.q.tolist()
    assert [float(e) for e in written["epsilon"]] == offers.epsilon.tolist()
    assert [round(float(p) * 1e6) for p in written["payment"]] == offers.payment_micros.tolist()


def test_clear_shows_people_what_was_bought(pdqs_command: Pdqs, market: Path) -> None:
    done = pdqs_command("clear", *SOUND, market, "--budget", 12)
    assert "owners" in done.out
    assert "of 12.00" in done.out
    assert "The first 8 of 60 offers" in done.out


def test_clear_gives_machines_json_and_nothing_else(pdqs_command: Pdqs, market: Path) -> None:
    data = pdqs_command("clear", *SOUND, market, "--budget", 12, "--json").data
    assert data["owners"] == len(data["offers"]) == 60
    assert data["spent_micros"] == round(sum(1e6 * offer["payment"] for offer in data["offers"])) <= 12_000_000
    assert data["terms_hash"] == terms_of(12.0).hash
    to_file = pdqs_command("clear", *SOUND, market, "--budget", 12, "--json", "--out", "offers.csv").data
    assert "offers" not in to_file
    assert {**to_file, "offers": data["offers"]} == data


def test_parquet_in_and_out_is_the_same_market(pdqs_command: Pdqs, market: Path) -> None:
    pytest.importorskip("pyarrow")
    files.write_table(
        Path("market.parquet"), {k: list(map(float, v)) if k == "bid" else v for k, v in columns_of(market).items()}
    )
    assert pdqs_command("clear", *SOUND, market, "--budget", 12, "--out", "a.csv").code == 0
    assert pdqs_command("clear", *SOUND, "market.parquet", "--budget", 12, "--out", "b.parquet").code == 0
    ours, theirs = (round_files.read_offers(Path(name), pdqs.Domain.binary()) for name in ("a.csv", "b.parquet"))
    assert ours[0] == theirs[0]
    assert ours[1].q.tolist() == theirs[1].q.tolist()
    assert ours[1].payment_micros.tolist() == theirs[1].payment_micros.tolist()


def test_trade_is_the_round_that_python_runs(pdqs_command: Pdqs, market: Path) -> None:
    data = pdqs_command("trade", *SOUND, market, "--budget", 12, "--seed", 5, "--level", 0.9, "--json").data
    given = columns_of(market)
    values, bids = [int(v) for v in given["value"]], [float(b) for b in given["bid"]]
    same = pdqs.trade(values, bids, terms_of(12.0), np.random.default_rng(5), level=0.9)
    assert data["seed"] == 5
    assert data["answer"]["value"] == same.answer.value
    assert data["answer"]["interval"] == list(same.answer.interval)
    assert data["answer"]["level"] == 0.9
    assert data["paid_micros"] == same.payments.total_micros
    assert [row["report"] for row in data["trades"]] == same.reports.values.tolist()


def test_a_trade_without_a_seed_prints_one_that_repeats_it(pdqs_command: Pdqs, market: Path) -> None:
    first = pdqs_command("trade", *SOUND, market, "--budget", 12)
    seed = first.out.split("seed ")[1].split()[0]
    assert pdqs_command("trade", *SOUND, market, "--budget", 12, "--seed", seed).out == first.out
    assert pdqs_command("trade", *SOUND, market, "--budget", 12).out != first.out  # equal by chance once in 2^32


def test_trade_writes_reports_and_what_was_paid(pdqs_command: Pdqs, market: Path) -> None:
    done = pdqs_command(
        "trade", *SOUND, market, "--budget", 12, "--seed", 5, "--out", "round.csv", "--picture", "round.png"
    )
    assert done.code == 0
    written = columns_of(Path("round.csv"))
    assert list(written) == ["owner", "bid", "q", "epsilon", "payment", "chance", "draw", "report", "paid"]
    assert written["paid"] == written["payment"]
    assert Path("round.png").read_bytes().startswith(b"\x89PNG")


def test_a_trades_offers_and_reports_give_its_answer_again(pdqs_command: Pdqs, market: Path) -> None:
    whole = pdqs_command("trade", *SOUND, market, "--budget", 12, "--seed", 5, "--out", "round.csv", "--json").data
    done = columns_of(Path("round.csv"))
    offers = ("owner", "bid", "q", "epsilon", "payment", "chance", "draw")
    files.write_table(Path("offers.csv"), {name: done[name] for name in offers})
    backwards = {"owner": done["owner"][::-1], "report": done["report"][::-1]}
    files.write_table(Path("reports.csv"), backwards)
    data = pdqs_command("answer", *SOUND, "offers.csv", "reports.csv", "--json", "--out", "due.csv").data
    assert data["answer"] == whole["answer"]
    assert columns_of(Path("due.csv")) == {"owner": done["owner"], "paid": done["paid"]}


def test_missing_reports_are_said_and_not_paid(pdqs_command: Pdqs, market: Path) -> None:
    pdqs_command("clear", *SOUND, market, "--budget", 12, "--out", "offers.csv")
    owners = columns_of(market)["owner"]
    files.write_table(Path("reports.csv"), {"owner": owners[:50], "report": ["1"] * 40 + [""] * 10})
    done = pdqs_command("answer", *SOUND, "offers.csv", "reports.csv", "--out", "due.csv")
    asked = [float(q) > 0 for q in columns_of(Path("offers.csv"))["q"]]
    assert f"{sum(asked[40:])} of {sum(asked)} reports are missing" in done.out
    due = columns_of(Path("due.csv"))["paid"]
    offered = columns_of(Path("offers.csv"))["payment"]
    assert due[:40] == offered[:40]
    assert set(due[40:]) == {"0.000000"}


@pytest.mark.parametrize(("query", "least", "most"), [("median", 28, 32), ("quantile:0.9", 34, 42), ("mean", 27, 33)])
def test_trade_answers_queries_on_a_domain(
    pdqs_command: Pdqs, ages: Path, query: str, least: float, most: float
) -> None:
    words = ("trade", *SOUND, ages, "--query", query, "--domain", "14:61:1", "--budget", 400, "--seed", 1, "--json")
    answer = pdqs_command(*words).data["answer"]
    low, high = answer["interval"]
    assert low <= answer["value"] <= high
    assert least <= answer["value"] <= most


def test_a_histogram_of_categories_has_a_figure_for_each(pdqs_command: Pdqs) -> None:
    rows = [f"o{i},{(i % 97) / 97:.3f},{('red', 'green', 'blue')[i % 3]}" for i in range(300)]
    Path("colours.csv").write_text("\n".join(["owner,bid,value", *rows]), encoding="utf-8")
    words = (
        "trade",
        *SOUND,
        "colours.csv",
        "--query",
        "histogram",
        "--domain",
        "red,green,blue",
        "--budget",
        300,
        "--seed",
        1,
    )
    answer = pdqs_command(*words, "--level", 0.999, "--json").data["answer"]
    assert answer["labels"] == ["red", "green", "blue"]
    assert all(low <= 100 <= high for low, high in answer["interval"])
    assert "green" in pdqs_command(*words).out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--preset", "gpqm-linear"), {"clearing": "greedy", "contract": "on-selection", "estimator": "naive"}),
        (("--preset", "fairquery"), {"clearing": "fairquery", "contract": "on-report"}),
        (("--preset", "robust"), {"estimator": "unbiased", "clearing": "ladder"}),
        (("--preset", "gpqm-linear", "--clearing", "ladder"), {"clearing": "ladder", "contract": "on-selection"}),
        (("--estimator", "shrunk", "--epsilon-max", "2"), {"estimator": "shrunk", "epsilon_max": 2.0}),
    ],
)
def test_presets_and_options_make_the_terms(
    pdqs_command: Pdqs, market: Path, words: tuple[str, ...], expected: dict[str, object]
) -> None:
    terms = pdqs_command("clear", *SOUND, market, "--budget", 12, "--json", *words).data["terms"]
    assert {name: terms[name] for name in expected} == expected


def test_a_rule_takes_its_figures(pdqs_command: Pdqs, market: Path) -> None:
    rule = pdqs_command("clear", *SOUND, market, "--budget", 12, "--json", "--rule", "exponential:2.5").data["terms"][
        "rule"
    ]
    assert (rule["is"], rule["c"]) == ("exponential", 2.5)
    rule = pdqs_command("clear", *SOUND, market, "--budget", 12, "--json", "--rule", "logarithmic:2:0.1:0.9").data[
        "terms"
    ]["rule"]
    assert (rule["c"], rule["q_min"], rule["q_max"]) == (2.0, 0.1, 0.9)
    rule = pdqs_command("clear", *SOUND, market, "--budget", 12, "--json", "--rule", "step:0.7").data["terms"]["rule"]
    assert rule["q_max"] == 0.7


def test_a_prior_may_be_a_file_of_past_bids(pdqs_command: Pdqs, market: Path) -> None:
    plain = pdqs_command("clear", *SOUND, market, "--budget", 12, "--seed", 5, "--json").data
    for prior in ("normal:0.2:0.1", str(market)):
        data = pdqs_command("clear", *SOUND, market, "--budget", 12, "--json", "--prior", prior).data
        assert data["terms"]["prior"] != plain["terms"]["prior"]
        assert data["spent_micros"] <= 12_000_000
    same = pdqs_command("clear", *SOUND, market, "--budget", 12, "--seed", 5, "--json", "--prior", "uniform").data
    assert same["offers"] == plain["offers"]


@pytest.mark.parametrize("budget", [0, 1e-7, 1e6])
def test_a_budget_of_nothing_or_of_plenty_is_an_ordinary_case(pdqs_command: Pdqs, market: Path, budget: float) -> None:
    done = pdqs_command("trade", *SOUND, market, "--budget", budget, "--seed", 1, "--json")
    assert done.code == 0
    assert done.data["paid_micros"] <= budget * 1e6
    assert done.data["bought"] == (60 if budget == 1e6 else 0)


def test_ties_are_an_ordinary_case(pdqs_command: Pdqs) -> None:
    rows = [f"o{i},0.25,{i % 2}" for i in range(40)]
    Path("ties.csv").write_text("\n".join(["owner,bid,value", *rows]), encoding="utf-8")
    data = pdqs_command("trade", *SOUND, "ties.csv", "--budget", 10, "--seed", 1, "--json").data
    assert len({row["q"] for row in data["trades"] if row["q"]}) <= 2  # a rung, and the one above it by lot
    assert data["bought"] > 0
    assert data["within_budget"] is True


def test_money_paid_over_the_budget_is_said(pdqs_command: Pdqs, market: Path) -> None:
    words = ("trade", *SOUND, market, "--preset", "gpqm-linear", "--budget", 12)
    over = [pdqs_command(*words, "--seed", seed, "--json").data["within_budget"] for seed in range(12)]
    assert not all(over)  # paid by the coin, the sum is right on average only
    assert "over the budget" in pdqs_command(*words, "--seed", over.index(False)).out


def test_a_trade_reads_each_bid_and_each_value_once(
    pdqs_command: Pdqs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "market.csv").write_text("owner,bid,value\na,0.1,1\nb,0.2,0\nc,0.3,1\n", encoding="utf-8")
    read = list[str]()
    floats, encode = columns.floats, Domain.encode

    def counted_floats(values: Column, *, column: str) -> Floats:
        read.append(column)
        return floats(values, column=column)

    def counted_encode(domain: Domain, values: Column, *, column: str = "value") -> Integers:
        read.append(column)
        return encode(domain, values, column=column)

    monkeypatch.setattr(columns, "floats", counted_floats)
    monkeypatch.setattr(Domain, "encode", counted_encode)
    assert pdqs_command("trade", *SOUND, "market.csv", "--budget", 1).code == 0
    assert read == ["bid", "value"]


def test_no_command_writes_over_what_it_reads(pdqs_command: Pdqs, market: Path) -> None:
    before = market.read_bytes()
    for word in ("clear", "trade"):
        ended = pdqs_command(word, market, "--budget", 100, "--out", market)
        assert ended.code == 2
        assert "read by this very command" in ended.err
    assert market.read_bytes() == before


def test_offers_of_a_lottery_without_their_chances_are_refused(pdqs_command: Pdqs, market: Path) -> None:
    assert pdqs_command("clear", market, "--budget", 12, "--out", "offers.csv").code == 0
    columns = columns_of(Path("offers.csv"))
    files.write_table(Path("bare.csv"), {name: columns[name] for name in ("owner", "bid", "q", "epsilon", "payment")})
    files.write_table(Path("reports.csv"), {"owner": columns["owner"], "report": [""] * len(columns["owner"])})
    ended = pdqs_command("answer", "bare.csv", "reports.csv")
    assert ended.code == 2
    assert "needs the columns 'chance' and 'draw'" in ended.err


def test_settling_offers_under_a_smaller_budget_is_said_in_a_sentence() -> None:
    done = pdqs.trade([1] * 30 + [0] * 30, [i / 60 for i in range(60)], terms_of(12.0), np.random.default_rng(1))
    with pytest.raises(pdqs.PdqsError, match=r"more than these terms' budget of 1\.00"):
        pdqs.settle(done.offers, done.reports, terms_of(1.0))
