"""Scores of mutations: in Python and from the command line, compared with measured values, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from figures.analyse import (
    Alignment,
    Measured,
    compare_mutations,
    family_model,
    family_mutations,
    read_alignment,
    read_model,
    read_mutations,
)
from figures.analyse.command import main
from figures.analyse.errors import DataError
from figures.potts.synthetic import ALIGNMENT, synthetic_model
from simulate.core import stream
from simulate.potts import pseudo_likelihood
from theory.models.potts import mutation_scores

NOISE = 0.5  # standard deviation of the noise of a made measurement, in units of that of the effects


@pytest.fixture(scope="module")
def mutations():
    family = read_alignment(ALIGNMENT)
    fit = pseudo_likelihood(family.sequences, 4, l2=4e-3, field_l2=1e-5, tol=1e-3)
    return family_mutations(family_model(fit, family, reference="1"))


@pytest.fixture(scope="module")
def effects(mutations):
    """The true effects, in the model that the family was sampled from."""
    family = read_alignment(ALIGNMENT)
    colors = [family.alphabet.index(letter) for letter in mutations.mutants]
    return mutation_scores(synthetic_model(), family.sequences[0])[mutations.sites, colors]


def scan(mutations, values, shift=0):
    return Measured(
        "made", mutations.wild_types, tuple((mutations.numbers + shift).tolist()), mutations.mutants, values
    )


def test_all_substitutions_of_a_sequence_with_gaps():
    states = stream(0, "states with gaps").integers(0, 3, (40, 3))
    family = Alignment(states, "-AC")
    model = family_model(pseudo_likelihood(states, 3, l2=0.1), family)
    found = family_mutations(replace(model, target=np.array([1, 0, 2]), numbers=np.array([7, -2, 8])))
    assert found.names == ["A7C", "C8A"]
    expected = mutation_scores(model.model, [1, 0, 2])
    assert found.pair_scores == pytest.approx([expected[0, 2], expected[2, 1]])
    assert found.frequencies == pytest.approx([np.mean(states[:, 0] == 2), np.mean(states[:, 2] == 1)])
    p = model.frequencies
    assert found.site_scores == pytest.approx([np.log(p[0, 2] / p[0, 1]), np.log(p[2, 1] / p[2, 2])], abs=0.01)
    with pytest.raises(ValueError, match="model must have target"):
        family_mutations(model)


def test_the_pair_model_follows_true_effects_more_closely_than_sites_alone(mutations, effects):
    noise = NOISE * effects.std() * stream(0, "noise of a made measurement").standard_normal(len(effects))
    found = compare_mutations(mutations, scan(mutations, effects + noise))
    assert found.pair == pytest.approx(spearmanr(mutations.pair_scores, effects + noise)[0])
    assert found.site == pytest.approx(spearmanr(mutations.site_scores, effects + noise)[0])
    assert found.difference == pytest.approx(found.pair - found.site)
    assert found.difference_interval[0] > 0
    assert (found.n_mutations, found.n_residues) == (120, 40)
    exact = compare_mutations(mutations, scan(mutations, effects))
    assert exact.pair > 0.8 > 0.6 > exact.site


def test_intervals_hold_the_true_difference_and_are_paired(mutations):
    """Values that follow neither model, alike within a residue: intervals of 95 % hold 0 as often as they say."""
    rng, hold = stream(0, "values that follow nothing"), 0
    for _ in range(40):
        per_residue = rng.standard_normal(40)[mutations.sites] + 0.3 * rng.standard_normal(120)
        found = compare_mutations(mutations, scan(mutations, per_residue), resamples=200)
        hold += found.pair_interval[0] <= 0 <= found.pair_interval[1]
    assert hold >= 33  # a bootstrap of single mutations holds 0 far less often: 38 of 40 are expected


def test_measured_values_are_matched_by_residue_and_letter(mutations, effects):
    twice = Measured(
        "made",
        (*mutations.wild_types, mutations.wild_types[0], "A", ""),
        (*mutations.numbers.tolist(), int(mutations.numbers[0]), 999, int(mutations.numbers[3])),
        (*mutations.mutants, mutations.mutants[0], "C", mutations.mutants[3]),
        np.array([*effects, effects[0] + 1, 0.0, effects[3]]),
    )
    found = compare_mutations(mutations, twice)
    assert found.values[0] == pytest.approx(effects[0] + 0.5)
    assert found.values[1:] == pytest.approx(effects[1:])
    assert found.notes == (
        "1 measured mutant of residues or letters that the model has not left out",
        "2 mutants measured several times, taken by the mean",
    )


def test_what_cannot_be_compared(mutations, effects):
    few = Measured(
        "made", mutations.wild_types[:6], tuple(mutations.numbers[:6].tolist()), mutations.mutants[:6], effects[:6]
    )
    for measured, message in (
        (few, "at least 10 mutations at 5 residues of the model, got 6 mutations at 2 residues"),
        (scan(mutations, np.ones(120)), "values that differ, got 1 throughout"),
        (scan(mutations, effects, shift=3), "mutants have another old letter there; with --first-residue 4 for"),
    ):
        with pytest.raises(ValueError, match=message):
            compare_mutations(mutations, measured)


@pytest.mark.parametrize(
    "content",
    [
        "mutant,fitness\nA2V,0.5\nA2C,-1\n",
        "# a remark\nmutant\tfitness\nA2V\t0.5\nA2C\t-1\n",
        "wt;position;mut;fitness\nA;2;V;0.5\na;2;c;-1\n",
        "fitness,hgvs\n0.5,p.A2V\n-1,p.A2C\n",
        "mutant,fitness\nA2V,0.5\nA2C,-1\nA2*,3\nA2A,1\nA2C:A3C,2\nA2D,\n",
    ],
)
def test_tables_of_measured_values(write, content):
    found = read_mutations(write("scan.csv", content))
    assert (found.wild_types, found.numbers, found.mutants) == (("A", "A"), (2, 2), ("V", "C"))
    assert found.values.tolist() == [0.5, -1]
    assert found.column == "fitness"
    if "A2*" in content:
        assert found.notes == (
            "1 row with several substitutions left out",
            "2 rows with a stop or an unchanged residue left out",
            "1 row with no value left out",
        )


def test_one_of_several_columns_is_named(write):
    path = write("scan.csv", "mutant,a,b\nA2V,0.5,7\nA2C,-1,8\n")
    assert read_mutations(path, "b").values.tolist() == [7, 8]
    with pytest.raises(DataError, match=r"several columns of numbers \(a, b\); name one with --measured"):
        read_mutations(path)
    with pytest.raises(DataError, match=r"has no column 'c' \(--measured\).*mutant, a, b"):
        read_mutations(path, "c")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mutant,fitness\n", "must have a header"),
        ("A2V,1\nA2C,2\n", "must have a header"),
        ("mutant\nA2V\n", "has one column"),
        ("name,fitness\nx,1\n", "has no column of mutants such as A23V, and no two columns called position and mutant"),
        ("mutant,fitness\nA2V,1,3\n", "has 3 cells in line 2, and 2 in its header"),
        ("mutant,fitness\nA2V,high\n", "no column that holds numbers only"),
        ("position,mut,fitness\n2,Ala,1\n", "has '2 Ala' in line 2: no position with one letter"),
        ("mutant,fitness\nA2*,1\n", "has no single mutant with a value"),
    ],
)
def test_tables_without_mutants_or_values(write, content, message):
    with pytest.raises(DataError, match=message):
        read_mutations(write("scan.csv", content))


def test_a_cell_that_is_no_number_is_named(write):
    path = write("scan.csv", "mutant,fitness\nA2V,1\nA2C,high\n")
    with pytest.raises(DataError, match="has 'high' in line 3, column fitness: no number"):
        read_mutations(path, "fitness")


@pytest.fixture(scope="module")
def family_file(tmp_path_factory):
    """120 sequences of 8 sites, of which the first record has a gap at site 3 and the last column is constant."""
    rng = stream(0, "a family of RNA")
    states = rng.integers(0, 4, (120, 8))
    states[:, 6] = np.where(rng.random(120) < 0.8, 3 - states[:, 0], states[:, 6])
    states[:, 7] = 1
    rows = ["".join(row) for row in np.array(list("ACGU"))[states]]
    rows[0] = f"{rows[0][:2]}-{rows[0][3:]}"
    path = tmp_path_factory.mktemp("family") / "family.fasta"
    path.write_text("".join(f">s{k}/11-18\n{row}\n" for k, row in enumerate(rows)), encoding="ascii")
    return path


def run(path, output, *options):
    return main([str(path), "--l2", "2", "--jobs", "1", "--no-reweight", "--output", str(output), *map(str, options)])


def test_the_command_writes_model_mutations_and_comparison(family_file, tmp_path, capsys):
    values = tmp_path / "scan.csv"
    first = family_file.read_text(encoding="ascii").split()[1]
    numbers = {place: number for number, place in enumerate([0, 1, 3, 4, 5, 6, 7], start=11)}
    rows = [f"{first[i]}{k}{b},{i * j}" for i, k in numbers.items() for j, b in enumerate("ACGU") if b != first[i]]
    values.write_text("mutant,made\n" + "\n".join(rows), encoding="ascii")
    out, model = tmp_path / "out", tmp_path / "family.params"
    assert run(family_file, out, "--reference", 1, "--mutations", values, "--write-model", model) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "The penalties 2 |J_ij|^2 (--l2, each pair once)" in said
    assert "l2 = 2/120.0 = 0.0167" in said
    assert f"are written to {model}, in the zero-sum gauge; the letters are -ACGU, in this order, and a gap" in said
    assert "21 substitutions of s0/11-18" in said
    assert "Spearman's rank correlation with 'made', measured for 21 mutations at 7 residues" in said
    table = pd.read_csv(out / "analyse_family.fasta_mutations.csv")
    names = ["residue", "wild_type", "mutant", "pair_score", "site_score", "frequency", "measured"]
    assert table.columns.tolist() == names
    assert table.residue.tolist() == np.repeat(range(11, 18), 3).tolist()
    assert (out / "analyse_family.fasta_mutation_map.png").stat().st_size > 0
    again = read_model(model)
    assert again.numbers.tolist() == [11, 12, -3, 13, 14, 15, 16, 17]
    assert again.converged
    assert (again.l2, again.identity) == (2, None)
    expected = mutation_scores(again.model, again.target)
    places = {number: site for site, number in enumerate(again.numbers.tolist())}
    scores = [expected[places[r], again.alphabet.index(m)] for r, m in zip(table.residue, table.mutant, strict=True)]
    assert table.pair_score.to_numpy() == pytest.approx(scores, abs=1e-5)
    constant = table[table.residue == 17]  # its couplings are zero: both models say the same
    assert constant.pair_score.to_numpy() == pytest.approx(constant.site_score.to_numpy(), abs=1e-5)
    assert not again.couplings[7].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mutations"], "--mutations are those of one sequence of the file: name it with --reference NAME"),
        (["--measured", "x"], "--measured names a column of the FILE of --mutations FILE"),
        (["--mutations", "--measured", "x", "--reference", "1"], "say --mutations FILE"),
        (["--mutations", "none.csv", "--reference", "1"], "none.csv"),
        (["--write-model", "m.txt"], "--write-model m.txt must end in .params (plmc, EVcouplings), .dat"),
        (["--write-model", "nowhere/m.npz"], "cannot be written to (there is no folder nowhere)"),
        (["--write-model", ""], "the name of the file is empty"),
    ],
)
def test_options_that_cannot_be_met_are_refused_before_the_work(family_file, tmp_path, capsys, options, message):
    assert run(family_file, tmp_path, *options) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert "penalties" not in said.out
    assert list(tmp_path.iterdir()) == []


def test_a_scan_that_does_not_fit_names_its_file(family_file, tmp_path, capsys):
    values = tmp_path / "scan.csv"
    values.write_text("mutant,made\nA1C,1\n", encoding="ascii")
    assert run(family_file, tmp_path / "out", "--reference", 1, "--mutations", values) == 2
    assert f"{values}: must have at least 10 mutations at 5 residues" in capsys.readouterr().err
