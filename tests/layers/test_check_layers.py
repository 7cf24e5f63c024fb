"""The layer check must find every kind of violation, and nothing in a clean tree."""

import pathlib
import tempfile
import unittest

import check_layers

CLEAN = {
    "core/base/units.h": "#pragma once\n#include <cstdint>\nint big;\n",
    "core/ir/program.h": '#pragma once\n#include "core/base/units.h"\n',
    "core/ir/program.cpp": '#include "core/ir/program.h"\n#include <Eigen/Core>\n',
    "core/machine/run.h": '#pragma once\n#include "core/trace/trace.h"\n',
    "core/machine/engine/run.cpp": '#include "core/machine/run.h"\n#include "core/machine/state/state.h"\n',
    "core/study/sweep.cpp": '#include "core/chip/chip.h"\n#include "core/machine/run.h"\n',
    "kernels/softmax.cpp": '#include "core/ir/program.h"\n',
    "views/canvas.cpp": '#include "views/layout/scene/scene.h"\n\n#include <QPainter>\n',
    "app/main.cpp": '#include "kernels/kernels.h"\n#include "views/canvas.h"\n#include <QApplication>\n',
    "tests/core/any.cpp": '#include "kernels/kernels.h"\n#include "views/layout/scene/scene.h"\n',
    "resources/chips/tpu_v9x.json": "{}\n",
    "resources/chips/x900_big.json": "{}\n",
    "README.md": "std::shared_ptr, a shared table\n",
}


class CheckLayers(unittest.TestCase):
    def found(self, extra):
        """Returns the violations of the clean tree with the files of `extra` added."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**CLEAN, **extra}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(check_layers.violations(root))

    def assertOneIn(self, place, text, extra):
        found = self.found(extra)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(place + ": "), found)
        self.assertIn(text, found[0])

    def testACleanTreeHasNoViolation(self):
        self.assertEqual(self.found({}), [])

    def testAnIncludeAgainstAnArrowIsFound(self):
        for name, target in [
            ("core/trace/a.cpp", "core/ir/program.h"),
            ("core/trace/a.cpp", "core/trace_file/trace_file.h"),
            ("core/machine/a.cpp", "core/analysis/report.h"),
            ("core/analysis/a.cpp", "core/machine/run.h"),
            ("kernels/relu.cpp", "core/machine/run.h"),
            ("views/layout/a.cpp", "core/machine/run.h"),
            ("views/layout/scene/a.cpp", "core/trace/trace.h"),
            ("views/layout/a.cpp", "views/navigation/stops.h"),
            ("views/navigation/a.cpp", "views/canvas.h"),
            ("views/a.cpp", "app/window/session.h"),
            ("app/run_job/a.cpp", "app/window/session.h"),
            ("app/window/a.cpp", "app/cli/commands.h"),
            ("app/process/a.cpp", "app/run_job/run_job.h"),
            ("core/base/a.cpp", "tests/support/random.h"),
            ("core/machine/memory/a.cpp", "core/machine/prepare/plan.h"),
            ("core/machine/state/a.cpp", "core/machine/engine/engine.h"),
            ("core/machine/parts/a.cpp", "core/machine/engine/engine.h"),
            ("core/machine/a.cpp", "core/machine/engine/engine.h"),
            ("core/study/a.cpp", "core/machine/engine/engine.h"),
            ("app/a.cpp", "core/machine/prepare/plan.h"),
        ]:
            with self.subTest(name=name, target=target):
                self.assertOneIn(f"{name}:1", "may only use", {name: f'#include "{target}"\n'})

    def testQtIsFoundWhereItMayNotBe(self):
        for folder in ("core/base", "kernels", "views/layout", "views/navigation", "app/cli"):
            for header in ("QString", "QtCore/qstring.h"):
                with self.subTest(folder=folder, header=header):
                    name = f"{folder}/relu.cpp"
                    self.assertOneIn(f"{name}:1", "without Qt", {name: f"#include <{header}>\n"})

    def testASlowLibraryInAHeaderIsFound(self):
        text = "#pragma once\n#include <nlohmann/json.hpp>\n"
        self.assertOneIn("core/chip/a.h:2", "only .cpp files", {"core/chip/a.h": text})

    def testANameOfAChipOrKernelInCoreIsFound(self):
        for line in ("// as in softmax", 'const auto name = "tpu_v9x";', "int v9xCores;", "Softmax();", "X900 x;"):
            with self.subTest(line=line):
                text = f"\n{line}\n"
                self.assertOneIn("core/cost/a.cpp:2", "by name", {"core/cost/a.cpp": text})

    def testAPathOfOneMachineIsFound(self):
        for path in ("../shar" + "ed/design.md", "shar" + "ed/x.csv", "/hom" + "e/me/x", "/wor" + "k/x"):
            with self.subTest(path=path):
                self.assertOneIn("docs/a.md:1", "one machine only", {"docs/a.md": f"see {path}\n"})

    def testAHeaderNamedFromItsOwnFolderIsFound(self):
        self.assertOneIn("app/a.cpp:1", "from the top folder", {"app/a.cpp": '#include "a.h"\n'})

    def testAHeaderWithoutPragmaOnceIsFound(self):
        self.assertOneIn("app/a.h:1", "#pragma once", {"app/a.h": "struct A;\n"})


if __name__ == "__main__":
    unittest.main()
