"""The check must find every kind of violation, and nothing if everything is in order."""

import pathlib
import tempfile
import unittest

import check_findings

SOUND = {
    check_findings.CATALOGUE: 'FINDING(TooLate, "too_late", Structural, Error, "Copy too late",\n'
                              '        "A copy ends " "behind its step; see order.")\n',
    check_findings.DOCUMENT: "# Machine\n\n## Findings\n\n| kind | class | says |\n|---|---|---|\n"
                             "| `too_late` | structural | A copy ends behind its step; see [order](#order). |\n\n## More\n",
    "tests/machine/late_test.cpp": 'expectOnly(run(), {"too_late", "x", 2}, line);\n',
    "core/machine/late.cpp": "trace::found(trace::FindingKind::TooLate, sentence);\n",
}


class CheckFindings(unittest.TestCase):
    def found(self, extra):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**SOUND, **extra}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(check_findings.violations(root))

    def assertOne(self, text, extra):
        found = self.found(extra)
        self.assertEqual(len(found), 1, found)
        self.assertIn(text, found[0])

    def changed(self, name, old, new):
        self.assertIn(old, SOUND[name])
        return {name: SOUND[name].replace(old, new)}

    def testASoundTreeHasNoViolation(self):
        self.assertEqual(self.found({}), [])

    def testAKindWithoutATitleIsFound(self):
        self.assertOne("its title", self.changed(check_findings.CATALOGUE, '"Copy too late"', '""'))

    def testAKindWithoutAMeaningIsFound(self):
        extra = self.changed(check_findings.CATALOGUE, '"A copy ends " "behind its step; see order."', '""')
        self.assertIn("its meaning", self.found(extra)[0])

    def testARowThatCannotBeReadIsFound(self):
        extra = {check_findings.CATALOGUE: SOUND[check_findings.CATALOGUE] + 'FINDING(Bare, "bare", Value)\n'}
        self.assertOne("2 rows, of which 1", extra)

    def testAKindThatTheDocumentLacksIsFound(self):
        self.assertOne("no row for too_late", {check_findings.DOCUMENT: "## Findings\n"})

    def testAnotherClassOrMeaningInTheDocumentIsFound(self):
        for old, new in (("structural", "value"), ("behind", "before")):
            with self.subTest(new=new):
                self.assertOne("says of too_late", self.changed(check_findings.DOCUMENT, old, new))

    def testADocumentedKindThatIsNoneIsFound(self):
        self.assertOne("which is no kind", self.changed(
            check_findings.DOCUMENT, "\n\n## More", "\n| `other` | value | Another thing. |\n\n## More"))

    def testAKindThatNoTestProvokesIsFound(self):
        for test in ("", 'EXPECT_TRUE(findingsOf(run, "too_late").empty());\n',
                     'EXPECT_EQ(findingsOf(run, "too_late").size(), 0U);\n', '// "too_late"\n'):
            with self.subTest(test=test):
                self.assertOne("provokes too_late", {"tests/machine/late_test.cpp": test})

    def testEveryFormOfADemandCounts(self):
        for test in ('EXPECT_EQ(findingsOf(run, "too_late").size(), 1U);\n',
                     'const auto found = findingsOf(run, "too_late");\nASSERT_EQ(found.size(), late ? 1U : 0U);\n',
                     'EXPECT_EQ(found[0].kind, "too_late");\n',
                     'expectOne(bug, twin, {"too_late", "x"}, chip);\n'):
            with self.subTest(test=test):
                self.assertEqual(self.found({"tests/machine/late_test.cpp": test}), [])

    def testAKindThatIsSpelledOutIsFound(self):
        self.assertOne("core/cost/a.cpp:2: spells", {"core/cost/a.cpp": '\nauto kind = "too_late";\n'})


if __name__ == "__main__":
    unittest.main()
