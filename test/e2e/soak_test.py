#!/usr/bin/env python3
"""The soak's verdict, without a cluster."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from soak import verdict  # noqa: E402


def samples(memory_at, minutes=3):
    return [(second, memory_at(second)) for second in range(0, minutes * 60 + 1, 5)]


class Verdict(unittest.TestCase):
    def test_a_plateau_is_fine(self):
        self.assertIsNone(verdict(samples(lambda second: 20e6 + min(second, 60) * 100e3), 0.1))

    def test_memory_that_grows_with_what_has_passed_is_found(self):
        # 350 bytes per pod at 500 pods per second.
        self.assertIn("grew", verdict(samples(lambda second: 20e6 + 350 * 500 * second / 2), 0.1))

    def test_350_bytes_of_every_pod_at_70_a_second_are_found_within_three_minutes(self):
        self.assertIn("grew", verdict(samples(lambda second: 19e6 + 350 * 70 * second), 0.1))

    def test_growth_that_has_ended_again_by_the_last_minute_is_fine(self):
        self.assertIsNone(verdict(samples(lambda second: 40e6 if 70 < second < 100 else 20e6), 0.1))

    def test_too_short_a_run_proves_nothing(self):
        self.assertIn("too few", verdict(samples(lambda second: 20e6, minutes=1), 0.1))


if __name__ == "__main__":
    unittest.main()
