"""The figures of a report, compared with formulae that stand here and not in the program."""

from support import FINDINGS, SMALL, Case, Product, parameters, strict_json

HBM_BYTES_PER_S = 0.8 * 819e9  # v5e's datasheet figure times the efficiency in its chip file
PEAK_FLOPS_PER_S = 197e12
MXU_FLOPS_PER_S = 4 * 128 * 128 * 2 * 1.5e9  # 4 MXUs of 128 x 128 multiply-adds, at the clock
STEP_OVERHEAD_S = 0.33e-6


def cube(extent, block):
    return {"m": extent, "n": extent, "k": extent, "bm": block, "bn": block, "bk": block}


class OnChips(Case):
    def run_on(self, change, kernel="matmul"):
        """Runs a kernel on the v5e with something changed."""
        chip = strict_json(self.output("describe", "tpu_v5e", "--json"))
        change(chip)
        self.write("chip.json", chip)
        return self.report(kernel, {}, "--values", "needed", "--chip", "chip.json")


class Figures(OnChips):
    def check(self, report, product):
        self.assertEqual(report["steps"], product.steps)
        self.assertEqual(report["flops_by_unit"]["MXU"], product.mxu_flops)
        self.assertEqual(report["flops_by_unit"]["VPU"], product.vpu_flops)
        self.assertEqual(report["flops"], product.flops)
        self.assertEqual(report["hbm_read_bytes"], product.read)
        self.assertEqual(report["hbm_write_bytes"], product.written)
        self.assertEqual(
            {row["operand"]: row for row in report["traffic"]},
            {
                name: {
                    "operand": name,
                    "direction": "write" if name == "out" else "read",
                    "copies": product.copies[name],
                    "bytes": product.bytes[name],
                    "block_bytes": product.block[name],
                    "refetch_factor": product.bytes[name] / product.array[name],
                }
                for name in ("x", "y", "out")
            },
        )
        self.assertEqual(report["vmem_by_operand"], product.vmem)
        self.assertEqual(report["vmem_peak_bytes"], sum(product.vmem.values()))
        self.assertEqual(report["vmem_scoped_limit_bytes"], 16 << 20)
        self.assertEqual(report["vmem_capacity_bytes"], 128 << 20)
        moved = product.read + product.written
        self.assertAlmostEqual(report["arithmetic_intensity"], product.flops / moved, places=9)
        self.check_times(report, product)

    def check_times(self, report, product):
        time, busy, split = report["time_s"], report["busy_s"], report["time_split_s"]
        moved = product.read + product.written
        count = sum(product.copies.values())
        self.assertAlmostEqual(busy["HBM"], moved / HBM_BYTES_PER_S, delta=count * 1e-12)
        # The MXU streams rows in granules of 8, of which these blocks have a whole number.
        self.assertAlmostEqual(
            busy["MXU"], product.mxu_flops / MXU_FLOPS_PER_S, delta=product.steps * 1e-9
        )
        self.assertAlmostEqual(
            split["step_overhead"], product.steps * STEP_OVERHEAD_S, delta=product.steps * 1e-12
        )
        self.assertAlmostEqual(sum(split.values()), time, delta=1e-14)
        self.assertGreaterEqual(time, max(busy.values()))
        self.assertGreaterEqual(split["compute"], busy["MXU"])
        self.assertAlmostEqual(report["flops_per_s"], product.flops / time, delta=1e5)
        self.assertAlmostEqual(
            report["utilization"], product.flops / time / PEAK_FLOPS_PER_S, places=9
        )
        self.assertEqual(report["peak_flops_per_s"], PEAK_FLOPS_PER_S)
        self.assertAlmostEqual(report["ridge"], PEAK_FLOPS_PER_S / 819e9, places=6)
        self.assertAlmostEqual(report["cycles"], time * 1.5e9, delta=0.51)

    def test_the_main_job(self):
        report = self.report("matmul", {}, "--values", "needed")
        product = Product(4096, 4096, 4096, 512, 512, 512)
        self.check(report, product)
        self.assertEqual(report["grid"], [8, 8, 8])
        self.assertEqual(product.copies, {"x": 512, "y": 512, "out": 64})
        self.assertEqual((product.read, product.written), (536870912, 67108864))
        self.assertEqual(sum(product.vmem.values()), 4194304)
        self.assertEqual(round(report["arithmetic_intensity"], 1), 227.8)
        self.assertTrue(0.85e-3 <= report["time_s"] <= 1.02e-3, report["time_s"])
        self.assertEqual(report["bound_by"], "memory(HBM)")
        self.assertEqual(report["findings"], [])
        # 603 979 776 bytes at 80 % of 819 GB/s take 921.8 µs.
        for words in (
            "Memory-bound (HBM)",
            "921.8",
            "227.8",
            "240.5",
            "f32",
            "80 %",
            "1024-blocks",
        ):
            self.assertIn(words, report["verdict"])

    def test_blocks_of_1024(self):
        report = self.report("matmul", cube(4096, 1024), "--values", "needed")
        self.check(report, Product(4096, 4096, 4096, 1024, 1024, 1024))
        self.assertEqual(report["steps"], 64)
        self.assertEqual((report["hbm_read_bytes"], report["hbm_write_bytes"]), (2**28, 2**26))
        self.assertTrue(0.72e-3 <= report["time_s"] <= 0.80e-3, report["time_s"])
        self.assertEqual(report["bound_by"], "compute(MXU)")
        self.assertEqual(report["vmem_peak_bytes"], report["vmem_scoped_limit_bytes"])
        self.assertEqual(report["findings"], [])
        self.assertIn("Compute-bound (MXU)", report["verdict"])

    def test_blocks_of_2048_run_with_the_limit_to_ask_for(self):
        report = self.report("matmul", cube(4096, 2048), "--values", "needed", code=FINDINGS)
        product = Product(4096, 4096, 4096, 2048, 2048, 2048)
        self.check(report, product)
        (finding,) = report["findings"]
        self.assertEqual(finding["class"], "structural")
        self.assertIn("vmem_limit_bytes", finding["message"])
        self.assertIn(str(sum(product.vmem.values())), finding["message"].replace("\u202f", ""))

    def test_blocks_beyond_vmem_are_refused_with_blocks_that_fit(self):
        sentence = self.refused(
            "run",
            "matmul",
            *parameters(cube(8192, 4096)),
            says=("128 MiB", "x 64", "y 64", "out 128"),
        )
        nearest = sentence.split("Nearest blocks that fit: ")[1].split(", ")
        self.assertGreaterEqual(len(nearest), 1)
        for choice in nearest:
            bm, bn, bk = map(int, choice.split(" ")[0].split("×"))
            product = Product(8192, 8192, 8192, bm, bn, bk)
            self.assertLessEqual(sum(product.vmem.values()), 128 << 20)
            self.assertIn(f"({sum(product.vmem.values()) >> 20} MiB)", choice)

    def test_an_order_that_revisits_its_output(self):
        report = self.report("matmul", {"order": "ikj"}, "--values", "needed", code=FINDINGS)
        self.check(report, Product(4096, 4096, 4096, 512, 512, 512, "ikj"))
        self.assertEqual(report["traffic"][2]["copies"], 512)
        self.check_revisit(report, first=0, again=8, count=8 * 8 * 7)

    def check_revisit(self, report, first, again, count):
        (finding,) = [f for f in report["findings"] if f["kind"] == "output_revisited"]
        self.assertEqual(finding["operand"], "out")
        self.assertEqual((finding["related_step"], finding["step"]), (first, again))
        self.assertEqual(finding["count"], count)
        self.assertRegex(finding["source"], r"^kernels/matmul\.cpp:\d+$")
        for words in (f"step {first} ", f"step {again}"):
            self.assertIn(words, finding["message"])

    def test_small_products_with_every_number(self):
        for order in ("ijk", "jik"):
            report = self.report("matmul", {**SMALL, "order": order})
            product = Product(**SMALL, order=order)
            self.check(report, product)
            self.assertEqual(report["grid"], product.grid)
            self.assertTrue(report["result"]["checked"] and report["result"]["passed"])
            # k u with u = 2^-24, times the largest value, which is at least a typical sum of k products.
            self.assertLess(report["result"]["max_rel_error"], SMALL["k"] * 2**-24)
            self.assertEqual(report["findings"], [])

    def test_a_small_product_that_revisits_its_output_fails_its_check(self):
        report = self.report("matmul", {**SMALL, "order": "ikj"}, code=FINDINGS)
        self.check(report, Product(**SMALL, order="ikj"))
        # In the order ikj, each i walks j (n/bn blocks) once for each of three k: the last two walks come back to both
        # blocks.
        self.check_revisit(report, first=0, again=2, count=3 * 2 * 2)
        self.assertFalse(report["result"]["passed"])
        text = self.output("run", "matmul", *parameters({**SMALL, "order": "ikj"}), code=FINDINGS)
        self.assertIn("result WRONG", text)
        self.assertIn("finding output_revisited", text)

    def test_a_verdict_counts_one_step_as_one(self):
        def change(chip):
            chip["constants"]["kernel_launch_s"]["value"] = 0

        verdict = self.run_on(change, "add_vectors")["verdict"]
        self.assertIn("; 1 step of 0.18 µs bookkeeping takes ", verdict)
        verdict = self.report("add_vectors", {})["verdict"]
        self.assertIn("; launches take 2.00 µs of it", verdict)

    def test_the_report_has_eight_lines(self):
        lines = self.output("run", "matmul", "--values", "needed").splitlines()
        self.assertEqual(len(lines), 8)
        self.assertEqual(
            [line.split()[0] for line in lines],
            ["matmul", "bound", "copies", "VMEM", "exposed", "beyond", "advice", "try"],
        )


class ChipFigures(OnChips):
    def test_a_printed_chip_passed_back_is_the_same_chip(self):
        own = self.report("matmul", {}, "--values", "needed")
        same = self.run_on(lambda chip: None)
        for report in (own, same):
            del report["wall_s"], report["wall_all_s"]
        self.assertEqual(same, own)

    def test_no_step_overhead_leaves_the_links_and_units_as_busy(self):
        def change(chip):
            chip["constants"]["step_overhead_s"]["value"] = 0
            chip["constants"]["step_operand_s"]["value"] = 0

        own, free = self.report("matmul", {}, "--values", "needed"), self.run_on(change)
        self.assertEqual(free["time_split_s"]["step_overhead"], 0)
        self.assertEqual(free["busy_s"], own["busy_s"])
        self.assertLess(free["time_s"], own["time_s"])

    def test_half_the_bandwidth_doubles_the_time_of_copies(self):
        def change(chip):
            chip["links"][0]["bytes_per_s"]["value"] /= 2

        own, slow = self.report("matmul", {}, "--values", "needed"), self.run_on(change)
        self.assertAlmostEqual(slow["busy_s"]["HBM"], 2 * own["busy_s"]["HBM"], delta=2e-9)
        self.assertGreaterEqual(slow["time_s"], slow["busy_s"]["HBM"])
        self.assertEqual(slow["hbm_read_bytes"], own["hbm_read_bytes"])

    def test_one_buffer_hides_nothing(self):
        report = self.report("matmul", {"buffers": 1}, "--values", "needed")
        product = Product(4096, 4096, 4096, 512, 512, 512)
        self.assertEqual(report["vmem_peak_bytes"], sum(product.block.values()))
        split, busy = report["time_split_s"], report["busy_s"]
        copies = split["exposed_copies"] + split["prologue"] + split["epilogue"]
        self.assertAlmostEqual(copies, busy["HBM"], delta=2e-9)
        whole = split["launches"] + split["compute"] + split["step_overhead"] + busy["HBM"]
        self.assertAlmostEqual(report["time_s"], whole, delta=2e-9)
