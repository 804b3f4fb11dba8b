"""A shelf of damaged bundles: what is done to a whole one, and the words that must name it.

An accident leaves the sums as they were. A forger repairs them, so that only a deeper check can
find the edit. The bundle is `bundles.make()`: 400 rows, counts 0 to 8, epsilon 7/10, simulated.
"""

import os
import re
import struct
import zlib
from fractions import Fraction

import numpy as np

from bundles import (
    forge,
    make,
    read_record,
    repair,
    repair_sums,
    replace_text,
    reweigh,
    rewrite_texts,
    write_record,
)
from holdfast.former.mechanism.rounding import certified_mechanism

HEADER = struct.Struct("<8sIIQQ")
FILES = ("README.md", "deployment.yaml", "distribution.svg", "mechanism.weights", "table.csv")
TARGET = b'"target": ['
DAMAGES = {}


def damage(name, words):
    """Put a function on the shelf."""

    def shelve(function):
        assert name not in DAMAGES
        DAMAGES[name] = (function, words)
        return function

    return shelve


def record_edit(name, words, **changes):
    """An edit of release.json by a forger, who repairs the sums."""
    damage(name, words)(lambda bundle: forge(bundle, **changes))


def raw_edit(name, words, old, new):
    """An edit of the text of release.json."""

    def edit(bundle):
        path = bundle / "release.json"
        data = path.read_bytes()
        assert old in data
        path.write_bytes(data.replace(old, new, 1))
        repair_sums(bundle)

    damage(name, words)(edit)


def text_edit(name, words, file, old, new):
    """An edit of another file by a forger, who repairs the sums."""
    damage(name, words)(lambda bundle: replace_text(bundle, file, old, new))


def flip(path, at=None):
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if at is None else at] ^= 1
    path.write_bytes(data)


# Accidents ------------------------------------------------------------------------------------

for file in FILES:
    damage(f"flipped bit in {file}", f"{file} was changed after the release was made")(
        lambda bundle, file=file: flip(bundle / file)
    )
    one_of_two = {
        "table.csv": "exactly one of table.csv",
        "mechanism.weights": "exactly one of mechanism.curves",
    }
    damage(f"missing {file}", one_of_two.get(file, f"{file} is missing"))(
        lambda bundle, file=file: (bundle / file).unlink()
    )
    damage(f"wrong hash of {file}", f"different sums for {file}")(
        lambda bundle, file=file: _other_hash(bundle, file)
    )


def _other_hash(bundle, file):
    record = read_record(bundle)
    record["files"][file]["sha256"] = "0" * 64
    write_record(bundle, record)


@damage("flipped bit in release.json", "release.json was changed after the release was made")
def _(bundle):
    path = bundle / "release.json"
    flip(path, path.read_bytes().index(b"Heuristic"))


@damage("flipped bit in SHA256SUMS", "different sums for README.md")
def _(bundle):
    path = bundle / "SHA256SUMS"
    flip(path, re.search(rb"\d", path.read_bytes()).start())  # of a digit, another digit


@damage("missing release.json", "release.json is missing")
def _(bundle):
    (bundle / "release.json").unlink()


@damage("missing SHA256SUMS", "SHA256SUMS is missing")
def _(bundle):
    (bundle / "SHA256SUMS").unlink()


@damage("truncated weights", "mechanism.weights is truncated")
def _(bundle):
    os.truncate(bundle / "mechanism.weights", 200)


@damage("appended table", "table.csv is longer than it was")
def _(bundle):
    with (bundle / "table.csv").open("ab") as file:
        file.write(b"p400,1\n")


@damage("truncated record", "release.json is not JSON at line")
def _(bundle):
    os.truncate(bundle / "release.json", 900)


@damage("edited epsilon, sums left", "release.json was changed after the release was made")
def _(bundle):
    record = read_record(bundle)
    record["privacy"]["epsilon"] = "1/2"
    write_record(bundle, record)


# The folder -----------------------------------------------------------------------------------


@damage("extra file", "the folder holds 'counts.xlsx'")
def _(bundle):
    (bundle / "counts.xlsx").write_text("mine")


@damage("hidden file", "the folder holds '.true_counts'")
def _(bundle):
    (bundle / ".true_counts").write_text("mine")


@damage("extra file that would clear the screen", r"'\x1b[2J'")
def _(bundle):
    (bundle / "\x1b[2J").write_text("mine")


@damage("subfolder", "'more' is not a plain file")
def _(bundle):
    (bundle / "more").mkdir()


@damage("two tables", "exactly one of table.csv, table.parquet")
def _(bundle):
    (bundle / "table.parquet").write_bytes((bundle / "table.csv").read_bytes())


@damage("symlinked table", "'table.csv' is a symbolic link")
def _(bundle):
    (bundle / "table.csv").rename(bundle.parent / "elsewhere.csv")
    (bundle / "table.csv").symlink_to(bundle.parent / "elsewhere.csv")


@damage("symlinked record", "release.json is a symbolic link")
def _(bundle):
    (bundle / "release.json").rename(bundle.parent / "elsewhere.json")
    (bundle / "release.json").symlink_to(bundle.parent / "elsewhere.json")


@damage("a pipe for a table", "'table.csv' is not a plain file")
def _(bundle):
    (bundle / "table.csv").unlink()
    os.mkfifo(bundle / "table.csv")


def _rename_file(name):
    def edit(bundle):
        record = read_record(bundle)
        record["files"][name] = record["files"].pop("table.csv")
        forge(bundle, files=record["files"])

    return edit


for name in ("../secret", "/etc/passwd", "..\\secret", ".", "table.csv/../../x", "C:table.csv"):
    damage(f"path traversal: {name}", "names a file outside the folder")(_rename_file(name))
damage("unknown file in the record", "disagree about the file 'counts.csv'")(
    _rename_file("counts.csv")
)


@damage("path traversal in SHA256SUMS", "SHA256SUMS does not list every file")
def _(bundle):
    text = (bundle / "SHA256SUMS").read_text()
    (bundle / "SHA256SUMS").write_text(text.replace("table.csv", "../table.csv"))


@damage("SHA256SUMS with a vertical tab for a line end", "SHA256SUMS does not list every file")
def _(bundle):
    text = (bundle / "SHA256SUMS").read_text()
    (bundle / "SHA256SUMS").write_text(text.replace("\n", "\v", 1))


@damage("SHA256SUMS that is not text", "SHA256SUMS is not plain text")
def _(bundle):
    (bundle / "SHA256SUMS").write_bytes(b"\xff\xfe")


@damage("a record of 10 GB", "release.json has 10000000000 bytes")
def _(bundle):
    os.truncate(bundle / "release.json", 10**10)  # a hole: takes no room on the disk


@damage("a table of 10 GB", "table.csv is longer than it was: 10000000000 bytes")
def _(bundle):
    os.truncate(bundle / "table.csv", 10**10)


# The record as JSON ---------------------------------------------------------------------------

raw_edit("duplicate key", "gives the key 'rows' twice", b'"rows"', b'"rows": 1, "rows"')
raw_edit("duplicate epsilon", "gives the key 'epsilon' twice", b'"delta"', b'"epsilon"')
raw_edit("not UTF-8", "release.json is not UTF-8 at byte", b"Heuristic", b"Heurist\xe4c")
raw_edit("deep nesting", "nested more than 8 levels", b'"notes": []', b'"notes": ' + b"[" * 9**5)
raw_edit("NaN in z", "release.json holds NaN", TARGET, TARGET + b"NaN,")
raw_edit("Infinity in z", "release.json holds Infinity", TARGET, TARGET + b"Infinity,")
raw_edit("1e999 in z", "which is too large", TARGET, TARGET + b"1e999,")
raw_edit("a number of 5000 digits", "a number of 5000 digits", b"400", b"4" * 5000)
raw_edit("a comment", "release.json is not JSON at line 1", b"{", b"{ // hello")


@damage("a list for a record", "release.json must hold a JSON object")
def _(bundle):
    (bundle / "release.json").write_text("[]")


# The schema -----------------------------------------------------------------------------------

record_edit("older schema", "schema 1, of an older holdfast", schema=1)
record_edit("newer schema", "schema 6, of a newer holdfast", schema=6)
record_edit("schema as text", "does not say which schema", schema="2")
record_edit("unknown field", "'comment' is not a field of schema 3", comment="trust me")
record_edit(
    "unknown field of privacy", "privacy.'note' is not a field", privacy={"note": "even better"}
)
record_edit("rows as text", "rows must be int, got '400'", rows="400")
record_edit("rows as true", "rows must be int, got True", rows=True)
record_edit("no rows", "rows must be 1 or more", rows=0)
record_edit("one method", "methods must name the two stages", methods=["magic"])
record_edit("notes of numbers", "notes must be a list of text", notes=[1])
record_edit("max_count of 10^9", "max_count must lie between 1 and 10000", max_count=10**9)
record_edit("a hash that is none", "README.md'.sha256 is not a SHA-256", files={
    "README.md": {"bytes": 1, "sha256": "crc32:1234"}
})  # fmt: skip


@damage("missing field", "privacy.stage_1 is missing")
def _(bundle):
    record = read_record(bundle)
    del record["privacy"]["stage_1"]
    write_record(bundle, record)
    repair_sums(bundle)


# The budget -----------------------------------------------------------------------------------

for text in ("0.7", "14/20", "1/0", "-7/10", "7 / 10", "٧", ""):
    record_edit(
        f"epsilon {text!r}", "privacy.epsilon must be a fraction", privacy={"epsilon": text}
    )
record_edit("edited epsilon", "do not add up to epsilon", privacy={"epsilon": "1/2"})
record_edit("epsilon of 11", "at most 10", privacy={"epsilon": "11"})
record_edit("edited bound", "do not add up to epsilon", privacy={"bound": "1/10"})
record_edit("certified bound", "bound was certified for more", privacy={"bound_certified": "1/10"})
record_edit(
    "certified stage 1", "stage_1 was certified for more", privacy={"stage_1_certified": "9"}
)
record_edit(
    "a smaller stage 2",
    "stage_2 was certified for more",
    privacy={"stage_2": "4761/10000", "epsilon": "3/5"},
)
record_edit("edited delta", "promise does not say what epsilon", privacy={"delta": "1/1000000"})
record_edit(
    "edited delta and promise",
    "README.md does not state the epsilon and delta",
    privacy={"delta": "1/1000000", "promise": "epsilon = 0.7 with delta = 0.000001"},
)
record_edit("delta of 2", "delta must be 0 or more and below 1", privacy={"delta": "2"})
record_edit("negative delta", "privacy.delta must be a fraction", privacy={"delta": "-1/2"})
record_edit("contributions", "steps is not the smaller", privacy={"contributions": 2})
record_edit("no contributions", "contributions must lie between", privacy={"contributions": 0})
record_edit(
    "contributions and steps",
    "epsilon times steps is more than stage_2",
    privacy={"contributions": 2, "steps": 2},
)
record_edit(
    "certified decimal",
    "certified_epsilon_decimal is not the sum",
    privacy={"certified_epsilon_decimal": "0.1"},
)
record_edit("promise", "promise does not say what epsilon", privacy={"promise": "epsilon = 0.1"})
record_edit(
    "neighbours", "neighbours is not the relation", privacy={"neighbours": "Whatever you like."}
)
record_edit("simulation denied", "simulated and privacy.randomness", privacy={"simulated": False})
record_edit(
    "simulation denied twice",
    "README.md says that the release is a simulation",
    privacy={"simulated": False, "randomness": "operating system"},
)


@damage("stage 2 certified for less", "stage_2_certified is not the certificate's")
def _(bundle):
    _claim_less(bundle, certificate={})


@damage("a certificate for less", "the weights prove less than the certificate's")
def _(bundle):
    _claim_less(bundle, certificate={"certified_epsilon": "1/2"})


@damage("a certificate for more", "certified_epsilon is not what these weights prove")
def _(bundle):
    record = read_record(bundle)
    target, epsilon = np.array(record["target"]), record["certificate"]["epsilon"]
    reweigh(bundle, lambda weights: _flatter(weights, target, Fraction(epsilon)))
    _claim_less(bundle, certificate={"certified_epsilon": epsilon}, to=epsilon)


def _flatter(weights, target, epsilon):
    mixed = 0.9 * weights / 2**62 + 0.1 * target
    return certified_mechanism(mixed, epsilon=epsilon, target=target).weights


def _claim_less(bundle, certificate, to="1/2"):
    privacy = read_record(bundle)["privacy"]
    total = Fraction(privacy["stage_1_certified"]) + Fraction(to)
    forge(
        bundle,
        privacy={"stage_2_certified": to, "certified_epsilon_decimal": f"{float(total):.12g}"},
        certificate=certificate,
    )


record_edit("certificate's total", "row_total is not 2^62", certificate={"row_total": "1"})
record_edit(
    "certificate above its epsilon",
    "more than stage_2 was given",
    certificate={"epsilon": "7/10"},
)
record_edit(
    "certificate's ratio",
    "worst_ratio is not the worst ratio",
    certificate={"worst_ratio": "3/2"},
)
record_edit("certificate's place", "does not name the inputs", certificate={"inputs": [0, 7]})
record_edit("certificate's output", "does not name the inputs", certificate={"output": -1})
record_edit("a delta of its own", "mechanism_delta is not", mechanism_delta="1/1000")
record_edit(
    "a bound that cost nothing",
    "bound must be above 0 where max_count was found, and only there",
    max_count_found={"max_count": 8, "q": "1/2", "epsilon": "1/9", "highest": 9, "method": ""},
)
record_edit("edited digest", "mechanism_digest is not the digest", mechanism_digest="0" * 64)

# The file of weights --------------------------------------------------------------------------


def header_edit(name, words, **changes):
    """An edit of the header of the weights by a forger, who repairs the sums."""

    def edit(bundle):
        path = bundle / "mechanism.weights"
        data = path.read_bytes()
        names = ("magic", "version", "n", "total", "length")
        values = dict(zip(names, HEADER.unpack_from(data), strict=True)) | changes
        path.write_bytes(HEADER.pack(*values.values()) + data[HEADER.size :])
        repair(bundle)

    damage(name, words)(edit)


header_edit("weights without magic", "does not begin as a file of weights", magic=b"PK\3\4zip!")
header_edit("weights of version 2", "format version 2", version=2)
header_edit("header's total", "row total other than 2^62", total=1 << 61)
header_edit("header's length of 10 GB", "speaks of 10000000000 bytes", length=10**10)
header_edit("header of 10 GB", "gives n = 36000, max_count + 1 is 9", n=36_000)
header_edit("header of 147 EB", "gives n = 4294967295", n=2**32 - 1)


@damage("header of 800 MB that fits max_count", "n = 10001, too large for the")
def _(bundle):
    path = bundle / "mechanism.weights"
    data = path.read_bytes()
    path.write_bytes(HEADER.pack(b"holdfast", 1, 10_001, 1 << 62, len(data) - 32) + data[32:])
    forge(bundle, max_count=10_000)


def _repack(bundle, packed):
    header = HEADER.pack(b"holdfast", 1, 9, 1 << 62, len(packed))
    (bundle / "mechanism.weights").write_bytes(header + packed)
    repair(bundle)


def _packed(bundle):
    return (bundle / "mechanism.weights").read_bytes()[HEADER.size :]


@damage("truncated weights, sums repaired", "bytes, 168 follow")
def _(bundle):
    os.truncate(bundle / "mechanism.weights", 200)
    repair(bundle)


@damage("truncated weights, header repaired", "mechanism.weights ends too early: the weights")
def _(bundle):
    _repack(bundle, _packed(bundle)[:200])


@damage("weights without check sum", "ends too early: its check sum")
def _(bundle):
    _repack(bundle, _packed(bundle)[:-4])


@damage("no weights at all", "too short to have a header")
def _(bundle):
    (bundle / "mechanism.weights").write_bytes(b"")
    repair(bundle)


@damage("bytes after the weights", "bytes after the end of its weights")
def _(bundle):
    _repack(bundle, _packed(bundle) + b"hidden")


@damage("a bomb after the weights", "more weights than n times n")
def _(bundle):
    _repack(bundle, zlib.compress(zlib.decompress(_packed(bundle)) + bytes(10**7)))


@damage("flipped bit in the weights, sums repaired", "cannot be inflated")
def _(bundle):
    packed = bytearray(_packed(bundle))
    packed[0] ^= 1
    _repack(bundle, bytes(packed))


@damage("a pickle for weights", "does not begin as a file of weights")
def _(bundle):
    (bundle / "mechanism.weights").write_bytes(b"cos\nsystem\n(S'touch executed'\ntR." + bytes(99))
    repair(bundle)


# The weights ----------------------------------------------------------------------------------


def weight_edit(name, words):
    """An edit of the weights by a forger, who repairs the digest and the sums."""

    def shelve(change):
        damage(name, words)(lambda bundle: reweigh(bundle, change))
        return change

    return shelve


@weight_edit("swapped rows", "certificate fails: output")
def _(weights):
    return weights[[8, 1, 2, 3, 4, 5, 6, 7, 0]]


@weight_edit("swapped neighbouring rows", "certificate fails: output")
def _(weights):
    return weights[[0, 1, 2, 4, 3, 5, 6, 7, 8]]


@weight_edit("swapped columns", "fixed point fails")
def _(weights):
    return weights[:, [8, 1, 2, 3, 4, 5, 6, 7, 0]]


@weight_edit("transposed weights", "do not add up to 2^62")
def _(weights):
    return np.ascontiguousarray(weights.T)


@weight_edit("a weight less by one", "weights of input 3 do not add up to 2^62")
def _(weights):
    weights[3, 3] -= 1
    return weights


@weight_edit("a ratio above epsilon", "tells inputs 0 and 1 apart by more than epsilon")
def _(weights):
    weights[0, 1:3] -= 2**57
    weights[0, 0] += 2**58
    return weights


@weight_edit(
    "a zero beside a weight", "output 4 is possible for input 1 and impossible for input 0"
)
def _(weights):
    weights[0, 0] += weights[0, 4]
    weights[0, 4] = 0
    return weights


@weight_edit("a negative weight", "input 0, output 4 lies outside 0 to 2^62")
def _(weights):
    weights[0, 0] += weights[0, 4] + 1
    weights[0, 4] = -1
    return weights


@damage("a weight moved by one", "mechanism_digest is not the digest")
def _(bundle):
    digest = read_record(bundle)["mechanism_digest"]

    def move(weights):
        weights[4, 4] -= 1
        weights[4, 5] += 1
        return weights

    reweigh(bundle, move)
    forge(bundle, mechanism_digest=digest)


# z --------------------------------------------------------------------------------------------

record_edit("measurement of halves", "measurement must be a list of 64", measurement=[0.5] * 8)
record_edit("measurement too large", "measurement must be a list of 64", measurement=[2**63] * 8)
record_edit("measurement as text", "measurement must be list or NoneType", measurement="1 2 3")
record_edit("no measurement", "measurement is null, but this stage 1", measurement=None)
record_edit("a short measurement", "has 7 integers, this stage 1 measures 8", measurement=[9] * 7)
record_edit("a wild measurement", "further off than noise goes", measurement=[2**60] * 8)
record_edit("another measurement", "is not what stage 1 measured", measurement=[30] * 8)
record_edit("short z", "target has 2 shares", target=[0.5, 0.5])
record_edit("negative share", "share 0 is not a number of 0 or more", target=[-0.5, 1.5] + [0] * 7)
record_edit("share as text", "share 0 is not a number", target=["1"] + [0] * 8)
record_edit("share as true", "share 0 is not a number", target=[True] + [0] * 8)
record_edit("z above 1", "shares do not add up to 1", target=[0.5] * 9)
record_edit("another z", "fixed point fails: the share of count", target=[0.5, 0.5] + [0] * 7)


@damage("expected change", "expected_change_of_a_count is not")
def _(bundle):
    forge(bundle, expected_change_of_a_count=0.01)
    rewrite_texts(bundle)


@damage("z moved by a ten-millionth", "fixed point fails: the share of count")
def _(bundle):
    z = read_record(bundle)["target"]
    z[1], z[2] = z[1] + 1e-7, z[2] - 1e-7
    methods = ["SomebodysOwn()", read_record(bundle)["methods"][1]]  # so nothing else can know
    claim = {"stage_1_certified_by": "claimed by SomebodysOwn, not checked"}
    forge(bundle, target=z, measurement=None, methods=methods, privacy=claim)
    rewrite_texts(bundle)


for odd in (
    "CumulativeIsotonic (projection='isotonic')",
    "CumulativeIsotonic(projection='iso')",
    "",
):
    record_edit(
        f"the method {odd!r}", "does not fit the stage 1 that methods names", methods=[odd, ""]
    )
record_edit(
    "another voucher",
    "does not fit the stage 1 that methods names",
    privacy={"stage_1_certified_by": "three witnesses"},
)


# The table ------------------------------------------------------------------------------------

for cell in ("9", "-1", "1.5", "3.000", "01", "NaN", "", "1e1", "٣", "=1+1"):
    words = "data row 1 is above max_count" if cell == "9" else "data row 1 is not a whole number"
    damage(f"the count {cell!r}", words)(
        lambda bundle, cell=cell: _edit_first_row(bundle, f"p0,{cell}\n")
    )
damage("a row less", "fewer rows than rows + structural_zeros")(
    lambda bundle: _edit_first_row(bundle, "")
)
damage("a row more", "more rows than rows + structural_zeros")(
    lambda bundle: _edit_first_row(bundle, "p0,1\np0,1\n")
)
damage("a ragged row", "line 2 has 3 cells")(
    lambda bundle: _edit_first_row(bundle, "p0,1,secret\n")
)
damage("an open quote", "cannot be read near line")(
    lambda bundle: _edit_first_row(bundle, 'p0,"1\n')
)


damage("a NUL in a cell", "table.csv holds a NUL")(
    lambda bundle: _edit_first_row(bundle, "p\0000,1\n")
)


def _edit_first_row(bundle, text):
    path = bundle / "table.csv"
    header, _, *rest = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header, text, *rest]))
    repair(bundle)


text_edit("a renamed column", "columns are not those", "table.csv", "place", "person")
record_edit("rows and zeros", "fewer zeros than structural", rows=1, structural_zeros=399)
record_edit("rows", "more rows than rows + structural_zeros", rows=399)
record_edit("another count column", "must have one column 'deaths'", count_column="deaths")
# Single rows ----------------------------------------------------------------------------------

record_edit("a category that is no column", "category must name one column", category="age")
ROWS = "intervals.csv"
SAYS_OTHERWISE = "does not say of a released 2 what z and the weights do"
text_edit("a narrower interval", SAYS_OTHERWISE, ROWS, "p0,2,2.101,0,4", "p0,2,2.101,1,4")
text_edit(
    "an interval of one row alone",
    "different things of rows",
    ROWS,
    "p3,2,2.101,0,4",
    "p3,2,2.101,1,4",
)
text_edit(
    "another expected count", "does not say of a released 1", ROWS, "p1,1,1.450", "p1,1,1.460"
)
text_edit("another label in intervals.csv", "line 2 is not that of the table", ROWS, "p0,", "p9,")
text_edit("a line less", "is not that of the table's row", ROWS, "p399,", "")
text_edit(
    "another header of intervals.csv", "intervals.csv does not begin with", ROWS, "low", "least"
)
text_edit(
    "another share in mechanism.csv",
    "the line of true count 0 is not",
    "mechanism.csv",
    "0,0.161",
    "0,0.162",
)
text_edit(
    "a line of mechanism.csv twice",
    "have a line for each true count",
    "mechanism.csv",
    "\n1,",
    "\n0,",
)
text_edit(
    "an edited codebook", "codebook.md is not what", "codebook.md", "not the true one", "exact"
)


def stated(**changes):
    """An edit of what release.json says of intervals.csv."""

    def edit(bundle):
        record = read_record(bundle)
        record["intervals"] |= changes
        write_record(bundle, record)
        rewrite_texts(bundle)

    return edit


damage("intervals of another kind", "follow from the noise of stage 1")(stated(every=True))
damage("z taken for less sure than it is", "does not follow from the noise of stage 1")(
    stated(mixed=0.25)
)
damage("a level of 2", "intervals.level must be a half or more")(stated(level="2"))
damage("lines for nothing", "intervals.lines must be rows or counts")(stated(lines="none"))


@damage("no word of intervals", "disagree about the file codebook.md")
def _(bundle):
    record = read_record(bundle)
    del record["intervals"]
    write_record(bundle, record)
    rewrite_texts(bundle)


record_edit("unknown unchanged column", "unchanged_columns does not", unchanged_columns=["age"])


@damage("an empty table", "table.csv is empty")
def _(bundle):
    (bundle / "table.csv").write_bytes(b"\n\n")
    repair(bundle)


@damage("a header without an end", "a quote in its header is not closed")
def _(bundle):
    (bundle / "table.csv").write_bytes(b'"' + b"\n" * 200_000)
    repair(bundle)


@damage("a table in two encodings", "not text in one encoding")
def _(bundle):
    (bundle / "table.csv").write_bytes(b"place,n\n\x81\x8d,\xff\n")
    repair(bundle)


# What people read -----------------------------------------------------------------------------

text_edit(
    "a README with another epsilon",
    "README.md does not state the epsilon",
    *("README.md", "epsilon = 7/10", "epsilon = 1/10"),
)
text_edit(
    "a registry entry with another epsilon",
    "deployment.yaml does not state the epsilon",
    *("deployment.yaml", "epsilon: 0.7", "epsilon: 0.1"),
)
text_edit(
    "a README that hides the seed",
    "README.md does not say that the release is a simulation",
    *("README.md", "SIMULATION, protects nobody", "Safe"),
)


@damage("a registry entry that hides the seed", "deployment.yaml does not say that the release is")
def _(bundle):
    path = bundle / "deployment.yaml"
    path.write_text(path.read_text().replace("SIMULATION, protects nobody", "Safe"))
    repair(bundle)


text_edit(
    "a picture that hides the seed",
    "distribution.svg does not say that the release is a simulation",
    *("distribution.svg", "SIMULATION, protects nobody", "Safe"),
)
text_edit(
    "a script in the picture",
    "holds the element 'script'",
    *("distribution.svg", "</svg>", "<script>alert(1)</script></svg>"),
)
text_edit(
    "a handler in the picture",
    "the element 'svg' has an attribute",
    *("distribution.svg", "<svg ", '<svg onload="alert(1)" '),
)
text_edit(
    "a picture that phones home",
    "the element 'rect' has an attribute",
    *("distribution.svg", 'fill="white"', 'fill="url(//example.org/x)"'),
)
text_edit(
    "an endless attribute in the picture",
    "the element 'svg' is too long",
    *("distribution.svg", "<svg ", f"<svg {'a' * 10**6} "),
)
text_edit(
    "an entity in the picture",
    "holds more than shapes and words",
    *("distribution.svg", "<svg ", '<!DOCTYPE x [<!ENTITY e "e">]><svg '),
)


@damage("a README that is not UTF-8", "README.md is not UTF-8")
def _(bundle):
    (bundle / "README.md").write_bytes(b"\xff" + (bundle / "README.md").read_bytes())
    repair(bundle)


# What people read, held to the last byte ------------------------------------------------------

WRITTEN = "is not what release.json and the table make it"
text_edit(
    "exact counts",
    f"README.md {WRITTEN}: line 21 differs",
    *("README.md", "- Columns published", "- The counts are exact: no noise.\n- Columns published"),
)
text_edit(
    "a hidden column",
    f"README.md {WRITTEN}",
    *("README.md", "unchanged: `place`", "unchanged: none"),
)
text_edit("a smaller error", f"README.md {WRITTEN}", *("README.md", "off by", "off by 0.0"))
text_edit(
    "a last line", f"README.md {WRITTEN}", *("README.md", "Made with", "Trust me.\nMade with")
)
text_edit(
    "another voice",
    f"deployment.yaml {WRITTEN}",
    *("deployment.yaml", "One release", "Many releases"),
)
text_edit(
    "a comment in YAML",
    f"deployment.yaml {WRITTEN}",
    *("deployment.yaml", "# A draft", "# No draft"),
)
text_edit(
    "another title", f"distribution.svg {WRITTEN}", *("distribution.svg", "400 rows", "4,000 rows")
)


@damage("the picture of another release", f"distribution.svg {WRITTEN}")
def _(bundle):
    make(seed=2).save(bundle.parent / "other")
    (bundle / "distribution.svg").write_bytes(
        (bundle.parent / "other/distribution.svg").read_bytes()
    )
    repair(bundle)
