"""The draws: every word against exact arithmetic, the branch that few words take, the law."""

from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from time import process_time

import numpy as np
import pytest
from scipy.stats import chi2

from holdfast.privacy.noise import MOST_BY_OPENDP, VALUE_CAP, Noise, add_noise
from holdfast.privacy.randomness import Simulation, SystemEntropy
from holdfast.privacy.sampler import WORD, Digit, Inverse, Levels, Sampler, uniform

FEW_BITS = 6
LAWS = {
    "laplace": Levels(Fraction(1), 1, 1, 1),
    "sharp": Levels(Fraction(5), 1, 1, 1),
    "staircase": Levels(Fraction(2), 10, 3, 1),
    "slow": Levels(Fraction(1, 10**6), 1, 1, 256**2),
    "digit": Digit(Fraction(1, 33), 256),
    "even digit": Digit(Fraction(1, 10**6), 256),
}
MANY = 1200  # bits, which decide all that the tests compare


def exact_inverse(law, number: int, bits: int) -> int:
    """The draw of the number that begins with these bits and goes on with zeros."""
    floors, first = many_floors(law)
    return first + bisect_right(floors, number << MANY - bits)


@lru_cache
def many_floors(law):
    return law.floors(MANY)


def no_more(_):
    raise AssertionError("these bits decide")


def only(*words):
    return lambda _: iter(words)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_words_that_decide_give_the_inverse_of_the_exact_cumulative_law(law):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << WORD, size=2000, dtype=np.uint64)
    words = np.append(words, words >> np.uint64(12))  # the far tail
    drawn = Inverse(law).draw(words, no_more)
    assert drawn.tolist() == [exact_inverse(law, int(word), WORD) for word in words]


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_words_beside_a_threshold_decide_and_the_threshold_itself_does_not(law):
    inverse, (floors, first) = Inverse(law), law.floors(WORD)
    lone = [
        (i, floor)
        for i, floor in enumerate(floors)
        if i and floors[i - 1] < floor - 1 and floor + 1 < [*floors, 1 << WORD][i + 1]
    ]
    assert len(lone) > 10
    for i, floor in lone:
        beside = np.array([floor - 1, floor + 1], dtype=np.uint64)
        assert inverse.draw(beside, no_more).tolist() == [first + i, first + i + 1]
        for_sure = only(0), only((1 << WORD) - 1)
        same = np.array([floor], dtype=np.uint64)
        assert [inverse.draw(same, more).tolist() for more in for_sure] == [
            [first + i],
            [first + i + 1],
        ]


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_bits_that_do_not_decide_go_on_until_they_do(law):
    """With 6 bits first. Of two cases the second repeats the bits of a threshold once more."""
    inverse, rng = Inverse(law, bits=FEW_BITS), np.random.default_rng(2)
    for floor in set(law.floors(FEW_BITS)[0]):
        first_word = np.array([floor << WORD - FEW_BITS], dtype=np.uint64)
        with pytest.raises(AssertionError):
            inverse.draw(first_word, no_more)
        word, last = (int(w) for w in rng.integers(0, 1 << WORD, size=2, dtype=np.uint64))
        number = floor << WORD | word
        assert inverse.draw(first_word, only(word)) == exact_inverse(law, number, WORD + FEW_BITS)
    for floor in rng.choice(np.array(law.floors(FEW_BITS + WORD)[0], dtype=object), 20):
        first_word = np.array([floor >> WORD << WORD - FEW_BITS], dtype=np.uint64)
        word = floor % (1 << WORD)
        with pytest.raises(StopIteration):
            inverse.draw(first_word, only(word))
        number = floor << WORD | last
        assert inverse.draw(first_word, only(word, last)) == exact_inverse(
            law, number, 2 * WORD + FEW_BITS
        )


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_with_few_bits_every_word_is_right_or_goes_on(law):
    """All 64 words: those equal to a whole part are undecided, the others are the exact inverse."""
    inverse, floors = Inverse(law, bits=FEW_BITS), law.floors(FEW_BITS)[0]
    asked = []

    def more(i):
        asked.append(i)
        return iter([middle])

    middle = 1 << WORD - 1
    words = np.arange(1 << FEW_BITS, dtype=np.uint64) << np.uint64(WORD - FEW_BITS)
    drawn = inverse.draw(words, more)
    assert sorted(asked) == sorted(set(floors))
    numbers = [(i << WORD) + middle for i in range(len(words))]  # the middle of each cell
    assert drawn.tolist() == [exact_inverse(law, n, WORD + FEW_BITS) for n in numbers]


def test_the_tail_goes_on_without_end():
    """A number that begins with 200 zeros lies beyond every table, and has its place."""
    law = Levels(Fraction(1), 1, 1, 1)
    drawn = Inverse(law).draw(np.zeros(1, dtype=np.uint64), only(0, 0, 1 << 56))
    number = 1 << 56
    assert drawn[0] == exact_inverse(law, number, 3 * WORD + WORD)
    assert drawn[0] == -int(np.log(2) * 199) - 1 + int(np.log(1 + np.exp(-1)) - 0.5)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 9, 16, 11])
def test_uniform_places_are_uniform_by_rejection(size):
    words = np.arange(16, dtype=np.uint64) << np.uint64(WORD - 4)
    asked = []

    def more(i):
        asked.append(i)
        return iter([(1 << WORD) - 1, 0])  # refused again unless it is right

    drawn = uniform(size, words, more, bits=4)
    kept = 16 // size * size
    assert asked == list(range(kept, 16))
    assert np.bincount(drawn[:kept]).tolist() == [16 // size] * size
    assert (drawn[kept:] == 0).all()


def test_uniform_places_of_one_need_no_bits():
    assert uniform(1, np.array([5, 7], dtype=np.uint64), no_more).tolist() == [0, 0]


# --- the law of many draws

NOISES = [
    Noise(epsilon=Fraction(1)),
    Noise(epsilon=Fraction(1, 10)),
    Noise(epsilon=Fraction(1, 50)),
    Noise(epsilon=Fraction(1, 10**6)),
    Noise(epsilon=Fraction(4)),
    Noise.least(Fraction(2), 10),
    Noise.least(Fraction(1, 100), 7),
    Noise.least(Fraction(5), 1000),
    Noise(epsilon=Fraction(1, 2), shift=3, width=8),
]
MISTAKE = 1e-6  # probability with which a test of the right law fails


def cells(noise: Noise, most: int = 60) -> np.ndarray:
    """Ends of at most so many ranges of integers that have at least 1/1000 each."""
    reach = noise.quantile(0.998)
    return np.unique(np.linspace(-reach - 1, reach, most).astype(np.int64))


def binned(noise: Noise, drawn: np.ndarray) -> np.ndarray:
    """Draws in each of these ranges."""
    ends = cells(noise)
    return np.bincount(np.searchsorted(ends, drawn), minlength=len(ends) + 1)


def p_value(noise: Noise, seen: np.ndarray, change=None) -> float:
    """Of binned draws under the law, or under one in which `change` = (x, factor) has another
    weight."""
    ends = cells(noise)
    cumulative = noise.cumulative(ends)
    if change is not None:
        x, factor = change
        cumulative = cumulative + (ends >= x) * (factor - 1) * noise.probability(x)
        total = 1 + (factor - 1) * float(noise.probability(x))
        cumulative = cumulative / total
    expected = seen.sum() * np.diff([0, *cumulative, 1])
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), len(ends)))


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_draws_have_the_exact_law(noise):
    drawn = add_noise(np.zeros(400_000, int), noise, Simulation(3), stream="law")
    assert p_value(noise, binned(noise, drawn)) > MISTAKE


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_draws_of_the_operating_system_have_the_exact_law(noise):
    drawn = add_noise(np.zeros(400_000, int), noise, SystemEntropy(), stream="law")
    assert p_value(noise, binned(noise, drawn)) > MISTAKE


@pytest.mark.parametrize("noise", [NOISES[0], NOISES[3], NOISES[5]], ids=str)
def test_draws_have_the_exact_law_when_few_bits_are_read_first(noise):
    """Four bits decide 1 in 8 draws at the most here: the others take the slow branch."""
    sampler = Sampler(noise.epsilon, noise.shift, noise.width, bits=4)
    counting = Counting(Simulation(4))
    drawn = sampler.draw(30_000, counting, "few bits", 0)
    assert counting.single > 3000
    assert p_value(noise, binned(noise, drawn)) > MISTAKE


class Counting:
    """A source that counts how often single words are asked for."""

    simulated = True

    def __init__(self, source):
        self.source, self.single = source, 0

    def words(self, size, *, stream, at=0):
        self.single += size == 1
        return self.source.words(size, stream=stream, at=at)


def test_a_weight_changed_by_one_percent_is_rejected():
    """The chi-square tests above can see what they must: with ten million draws, one percent of
    one weight; the same draws pass under the right law."""
    noise = Noise(epsilon=Fraction(1))
    seen = binned(noise, add_noise(np.zeros(10**7, int), noise, Simulation(5), stream="power"))
    assert p_value(noise, seen) > MISTAKE
    for x in (0, 1, -1):
        assert p_value(noise, seen, (x, 1.01)) < MISTAKE
        assert p_value(noise, seen, (x, 0.99)) < MISTAKE


def test_a_weight_of_the_staircase_changed_by_one_percent_is_rejected():
    noise = Noise.least(Fraction(2), 4)
    seen = binned(noise, add_noise(np.zeros(10**7, int), noise, Simulation(6), stream="power"))
    assert p_value(noise, seen) > MISTAKE
    for x in (0, 1):
        assert p_value(noise, seen, (x, 1.01)) < MISTAKE


@pytest.mark.parametrize("epsilon", ["1", "1/20"])
def test_draws_agree_with_those_of_opendp(epsilon):
    noise = Noise(epsilon=Fraction(epsilon))
    theirs = SystemEntropy().add_laplace(np.zeros(60_000, int), noise.epsilon)
    ours = add_noise(np.zeros(10**6, int), noise, SystemEntropy(), stream="law")
    ends = cells(noise, 30)
    seen = [np.bincount(np.searchsorted(ends, x), minlength=len(ends) + 1) for x in (theirs, ours)]
    together = sum(seen)
    expected = [together * len(x) / (len(theirs) + len(ours)) for x in (theirs, ours)]
    statistic = sum(((s - e) ** 2 / e).sum() for s, e in zip(seen, expected, strict=True))
    assert chi2.sf(statistic, len(ends)) > MISTAKE


def test_neighbouring_draws_are_independent():
    noise = Noise(epsilon=Fraction(1, 50))  # a digit and a level for each
    drawn = add_noise(np.zeros(10**6, int), noise, Simulation(7), stream="law")
    scaled = drawn / np.sqrt(noise.variance)
    for lag in (1, 2, 3, 4, 8, 1 << 15):
        assert abs((scaled[lag:] * scaled[:-lag]).mean()) < 5e-3
    parts = np.sign(drawn), np.abs(drawn) % 256
    assert abs(np.corrcoef(parts)[0, 1]) < 5e-3


@pytest.mark.parametrize("shift", [1, 16])
def test_level_digits_and_place_of_a_draw_are_independent(shift):
    noise = Noise.least(Fraction(1, 10**6), shift)
    drawn = add_noise(np.zeros(400_000, int), noise, Simulation(11), stream="law")
    outside = drawn[np.abs(drawn) >= noise.width]
    beyond, place = np.divmod(np.abs(outside) - noise.width, shift)
    parts = [np.minimum(beyond >> 16, 15), beyond >> 12 & 15, beyond >> 4 & 15, beyond & 15]
    for first, second in combinations([*parts, place, np.sign(outside) + 1], 2):
        seen = np.bincount(first * 16 + second, minlength=256).reshape(16, 16)
        expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / len(outside)
        possible = expected > 5
        statistic = ((seen - expected)[possible] ** 2 / expected[possible]).sum()
        assert chi2.sf(statistic, max(1, possible.sum() - 1)) > MISTAKE


# --- where draws come from


def test_a_small_real_run_takes_its_noise_from_opendp_and_a_large_one_its_own(monkeypatch):
    asked = []

    def add_laplace(self, values, epsilon, sensitivity=1):
        asked.append((len(values), epsilon, sensitivity))
        return values

    monkeypatch.setattr(SystemEntropy, "add_laplace", add_laplace)
    noise, source = Noise(epsilon=Fraction(1, 3)), SystemEntropy()
    few, many = np.zeros(MOST_BY_OPENDP, int), np.zeros(MOST_BY_OPENDP + 1, int)
    assert not add_noise(few, noise, source, stream="a").any()
    assert asked == [(MOST_BY_OPENDP, Fraction(1, 3), 1)]
    assert add_noise(many, noise, source, stream="a").any()
    assert add_noise(few, noise, source, stream="a", at=1).any()  # a later batch of many
    assert add_noise(few, Noise.least(Fraction(1, 3), 4), source, stream="a").any()
    assert add_noise(few, noise, Simulation(1), stream="a").any()
    assert len(asked) == 1


def test_real_draws_never_repeat():
    noise = Noise(epsilon=Fraction(1, 10**4))
    batches = [add_noise(np.zeros(100, int), noise, SystemEntropy(), stream="a") for _ in range(2)]
    assert (batches[0] != batches[1]).any()


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("bits", [64, 5])
def test_a_seed_gives_a_row_the_same_noise_however_rows_are_cut(noise, bits):
    sampler = Sampler(noise.epsilon, noise.shift, noise.width, bits=bits)
    size = 70_000 if bits == 64 else 1000
    whole = sampler.draw(size, Simulation(8), "counts", 0)
    cuts = [0, 1, 6, 7, 500, size // 2, size]
    pieces = [sampler.draw(b - a, Simulation(8), "counts", a) for a, b in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    assert (sampler.draw(size, Simulation(8), "sums", 0) != whole).any()
    assert (sampler.draw(size, Simulation(9), "counts", 0) != whole).any()


def test_seeded_noise_is_the_same_in_every_version():
    """Results with a seed are printed in papers: whatever changes these numbers must be wanted."""
    noises = [Noise(epsilon=Fraction(1)), Noise(epsilon=Fraction(1, 1000)), NOISES[5]]
    drawn = [add_noise(np.zeros(6, int), n, Simulation(1), stream="counts") for n in noises]
    assert [values.tolist() for values in drawn] == PINNED


PINNED = [[1, 0, 1, 3, 0, 0], [1786, 508, 970, 2748, -313, -522], [3, -2, -2, 11, -1, -2]]


def test_noise_is_added_to_what_is_given():
    noise, values = Noise(epsilon=Fraction(1)), np.array([-3, 0, 10**9, 1 << 61])
    drawn = add_noise(np.zeros(4, int), noise, Simulation(1), stream="a")
    np.testing.assert_array_equal(
        add_noise(values, noise, Simulation(1), stream="a"), values + drawn
    )


class Zeros:
    """A source of zeros for so many words of a row, and then of ones: the far tail."""

    simulated = True

    def __init__(self, words):
        self.zeros = words

    def words(self, size, *, stream, at=0):
        return np.full(size, 0 if "row" not in stream or at < self.zeros else 1, dtype=np.uint64)


@pytest.mark.parametrize("noise", [NOISES[0], NOISES[3], NOISES[5]], ids=str)
def test_the_far_tail_is_drawn_to_the_end(noise):
    """Ten words of zeros: some 490 scales below. The number of words decides, not a table."""
    far = [int(add_noise([0], noise, Zeros(words), stream="a")[0]) for words in (3, 10)]
    scales = [(words + 1) * WORD * np.log(2) / float(noise.epsilon) for words in (3, 10)]
    for x, scale in zip(far, scales, strict=True):
        assert x == pytest.approx(-scale * noise.shift, rel=0.25)


@pytest.mark.parametrize("noise", [NOISES[0], NOISES[3], NOISES[6]], ids=str)
@pytest.mark.parametrize("level", [-(1 << 62), 1 << 62, -(1 << 62) + 1])
def test_noise_beyond_64_bits_caps_the_result_and_not_the_noise(noise, level, monkeypatch):
    """The result follows from the exact sum, where capped noise would tell the count."""

    def draw(self, words, more):
        return np.full(len(words), level if isinstance(self.law, Levels) else 255)

    monkeypatch.setattr(Inverse, "draw", draw)
    for count in (0, 1, 10**9):
        noisy = add_noise([count], noise, Simulation(1), stream="a")
        assert abs(int(noisy[0])) == VALUE_CAP
        assert (noisy[0] > 0) == (level > 0)


def test_sums_with_noise_stay_within_64_bits():
    huge = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min])
    noisy = add_noise(huge, Noise(epsilon=Fraction(1)), Simulation(1), stream="a")
    assert np.abs(np.abs(noisy.astype(float)) / VALUE_CAP - 1).max() < 1e-9


def test_no_rows_need_no_noise():
    for source in (SystemEntropy(), Simulation(1)):
        for noise in NOISES:
            assert len(add_noise([], noise, source, stream="a")) == 0


@pytest.mark.parametrize("source", [SystemEntropy(), Simulation(1)], ids=["system", "seeded"])
def test_a_million_draws_take_a_fraction_of_a_second(source):
    """The promise is ten million in a second of CPU (benchmarks/noise.py has the figures)."""
    noise, values = Noise(epsilon=Fraction(1)), np.zeros(10**6, int)
    add_noise(values, noise, source, stream="a")
    start = process_time()
    add_noise(values, noise, source, stream="a")
    assert process_time() - start < 0.3
