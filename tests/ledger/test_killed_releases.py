"""Releases as processes: ended at random moments, and begun together."""

from attacks_processes import kills, together


def test_a_release_that_is_ended_at_any_moment_leaves_nothing_half_and_nothing_unpaid(quick):
    ends, wrong = kills(quick, 12)
    assert wrong == [] and ends.total() == 12


def test_of_equal_releases_that_begin_together_one_pays(quick):
    assert together(quick, 4) == []
