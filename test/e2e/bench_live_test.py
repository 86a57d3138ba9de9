#!/usr/bin/env python3
"""What the live benchmark computes from its measurements, without a cluster."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import bench_live  # noqa: E402
import bench_instructions  # noqa: E402
import bench_steady  # noqa: E402
from audit import Binding  # noqa: E402
from etcd_copies import copies_of  # noqa: E402


class Loads(unittest.TestCase):
    def test_a_rate_and_pods_that_fit_nowhere(self):
        loads = bench_live.loads("60,150,60+2000")
        self.assertEqual([(load.rate, load.pending) for load in loads], [(60, 0), (150, 0), (60, 2000)])
        self.assertEqual(str(loads[2]), "60 pods/s, 2000 that fit nowhere")

    def test_what_is_no_load_is_refused_with_what_was_found(self):
        for text in ("", "x", "0", "60+", "60+x", "-1", "60,,150"):
            with self.assertRaisesRegex(Exception, "expected RATE", msg=text):
                bench_live.loads(text)


class Parts(unittest.TestCase):
    def test_parts_of_a_pods_way(self):
        parts = bench_steady.parts_of((10.0, 10.004), Binding("ns", "a", 201, "", 10.010, 10.007))
        self.assertEqual({part: round(took, 3) for part, took in parts.items()},
                         {"total": 10.0, "create": 4.0, "schedule": 3.0, "bind": 3.0})

    def test_a_scheduler_that_is_quicker_than_the_creations_answer(self):
        parts = bench_steady.parts_of((10.0, 10.004), Binding("ns", "a", 201, "", 10.006, 10.003))
        self.assertEqual(parts["schedule"], 0.0)
        self.assertAlmostEqual(parts["total"], 6.0)

    def test_percentiles(self):
        self.assertEqual(bench_steady.percentile(range(1, 101), 0.5), 51)
        self.assertEqual(bench_steady.percentile(range(1, 1001), 0.99), 991)
        self.assertEqual(bench_steady.percentile([7], 0.99), 7)


class Instructions(unittest.TestCase):
    def test_starting_is_not_among_what_a_pod_costs(self):
        self.assertEqual(bench_instructions.per_pod({1200: 1_500_000, 200: 500_000}), 1000)

    def test_the_last_count_is_taken_and_none_is_a_failure(self):
        self.assertEqual(bench_instructions.collected("==1== Collected : 12\n==1== Collected : 345\n"), 345)
        with self.assertRaisesRegex(Exception, "expected \"Collected"):
            bench_instructions.collected("no valgrind")

    def test_what_recording_adds(self):
        text = bench_instructions.table({"berth": 190_000.0, "recording": 210_000.0, bench_instructions.WITHIN: 10_000.0})
        self.assertIn("recording adds 5.0%", text)
        with self.assertRaisesRegex(Exception, "has one of its functions another name"):
            bench_instructions.table({"berth": 1.0, "recording": 2.0, bench_instructions.WITHIN: 0.0})

    def test_what_is_within_the_recorder(self):
        annotated = """
        1,200 (12.0%)  ???:berth::replay::Recorder::Serve() [/build/berth]
          300 ( 3.0%)  ???:berth::replay::Recorder::OnPut(std::chrono::time_point<...>, berth::api::Object const&)
          200 ( 2.0%)  ???:berth::replay::Recorder::Write(berth::replay::Recorder::Item const&) [/build/berth]
        9,000 (90.0%)  ???:berth::scheduler::Driver::Step() [/build/berth]
        """
        self.assertEqual(bench_instructions.within_recorder(annotated), 1500)


class Copies(unittest.TestCase):
    def test_every_place_of_a_text_is_replaced(self):
        self.assertEqual(copies_of(b"\x05pod-0\x05pod-0", ((b"pod-0", b"pod-7"),)), b"\x05pod-7\x05pod-7")

    def test_a_copy_that_would_break_the_record_is_refused(self):
        for old, new in ((b"pod-0", b"pod-10"), (b"pod-1", b"pod-2")):
            with self.assertRaises(ValueError):
                copies_of(b"\x05pod-0", ((old, new),))


if __name__ == "__main__":
    unittest.main()
