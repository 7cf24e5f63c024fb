#!/usr/bin/env python3
"""Checks that everything that mentions findings agrees with the catalogue in
core/trace/findings.inc.

    check_findings.py ROOT

Prints one line per violation and exits with 1 if there is any:
  - a kind whose name, title or meaning is missing, occurs twice, or does not have the form that it
    must have;
  - a row of the table of docs/machine.md that differs from the catalogue, or a kind without a row;
  - a kind that no test provokes: no assertion demands that a run has found it;
  - a kind spelled out in core/ or views/ instead of being taken from the catalogue.
It only reads the text, so it needs no build.
"""

import pathlib
import re
import sys

CATALOGUE = "core/trace/findings.inc"
DOCUMENT = "docs/machine.md"
# Folders whose tests run programs; other tests make up findings for a view to show.
PROVOKING = ("tests/machine", "tests/study")

STRING = r'"(?:[^"\\]|\\.)*"'
ROW = re.compile(
    rf"FINDING\(\s*(\w+),\s*({STRING}),\s*(\w+),\s*(\w+),\s*({STRING}),\s*((?:{STRING}\s*)+)\)"
)
DOCUMENT_ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", re.M)
LINK = re.compile(r"\[([^]]+)\]\(#[^)]+\)")


class Kind:
    def __init__(self, code, name, category, severity, title, meaning):
        self.code, self.category, self.severity = code, category, severity
        self.name, self.title = name[1:-1], title[1:-1]
        self.meaning = "".join(part[1:-1] for part in re.findall(STRING, meaning))


def rows(text):
    return [Kind(*match) for match in ROW.findall(text)]


def twice(values):
    return sorted({value for value in values if values.count(value) > 1})


def check_catalogue(text, kinds):
    count = len(re.findall(r"^FINDING\(", text, re.M))
    if count == 0 or count != len(kinds):
        yield f"has {count} rows, of which {len(kinds)} can be read"
    for name in twice([kind.name for kind in kinds]) + twice([kind.title for kind in kinds]):
        yield f'has "{name}" twice'
    for kind in kinds:
        if kind.code != "".join(word.capitalize() for word in kind.name.split("_")):
            yield f"{kind.name}: its enumerator is {kind.code}"
        if not re.fullmatch(r"[A-Z].*[^.]", kind.title):
            yield f'{kind.name}: its title is "{kind.title}"; a few words that begin with a capital are right'
        if not re.fullmatch(r"[A-Z`].* .*\.", kind.meaning):
            yield f'{kind.name}: its meaning is "{kind.meaning}"; a sentence is right'


def check_document(text, kinds):
    section = text.partition("\n## Findings\n")[2].partition("\n## ")[0]
    said = {name: (category, LINK.sub(r"\1", words)) for name, category, words in DOCUMENT_ROW.findall(section)}
    for kind in kinds:
        wanted = (kind.category.lower(), kind.meaning)
        if kind.name not in said:
            yield f"has no row for {kind.name}"
        elif said[kind.name] != wanted:
            yield f"says of {kind.name}: {said[kind.name]}, but the catalogue {wanted}"
    for name in sorted(set(said) - {kind.name for kind in kinds}):
        yield f"has a row for {name}, which is no kind"


def provokes(text, name):
    """Returns whether a test demands that a run has such a finding. A test that demands that there
    is none does not count."""
    wanted = f'"{name}"'
    count = r"\.size\(\), [^;\"]*?[1-9]\d*U"
    demands = (
        rf"\b(expectOnly|expectOne)\([^;]*\{{{wanted}, ",
        rf"EXPECT_EQ\([^;\"]*\.kind, {wanted}\)",
        rf"(ASSERT|EXPECT)_EQ\(\s*findingsOf\([^;\"]*{wanted}\)\s*{count}",
        rf"(\w+) =\s*findingsOf\([^;\"]*{wanted}\);\s*(ASSERT|EXPECT)_EQ\(\1{count}",
    )
    return any(re.search(demand, text) for demand in demands)


def check_tests(texts, kinds):
    for kind in kinds:
        if not any(provokes(text, kind.name) for text in texts):
            yield f"no test of {' or '.join(PROVOKING)} provokes {kind.name}"


def check_sources(files, kinds):
    for name, text in files:
        for kind in kinds:
            for match in re.finditer(rf'"{kind.name}"', text):
                line = text.count("\n", 0, match.start()) + 1
                yield f'{name}:{line}: spells "{kind.name}"; the catalogue has it'


def texts_of(root, folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def violations(root):
    catalogue = (root / CATALOGUE).read_text(encoding="utf-8")
    kinds = rows(catalogue)
    for wrong in check_catalogue(catalogue, kinds):
        yield f"{CATALOGUE}: {wrong}"
    for wrong in check_document((root / DOCUMENT).read_text(encoding="utf-8"), kinds):
        yield f"{DOCUMENT}: {wrong}"
    yield from check_tests([text for _, text in texts_of(root, PROVOKING)], kinds)
    yield from check_sources(texts_of(root, ("core", "views")), kinds)


def main(arguments):
    if len(arguments) != 1:
        print("usage: check_findings.py ROOT", file=sys.stderr)
        return 2
    found = list(violations(pathlib.Path(arguments[0]).resolve()))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
