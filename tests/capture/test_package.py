"""The package: which folders may import which, that all are installed, and how large its parts are.
"""

import ast
import pathlib
import tomllib

import pallascope

_PACKAGE = pathlib.Path(pallascope.__file__).parent
_FOLDERS = sorted(path.parent.name for path in _PACKAGE.glob("*/__init__.py"))

# What each folder imports from the package, besides itself.
_ALLOWED = {
    "jax_compat": set(),
    "author_names": {"jax_compat", "sources"},
    "rules": {"jax_compat", "problems", "program", "sources", "types", "walk"},
    "outside_kernel": {"author_names", "jax_compat", "rules", "array_elements", "problems",
                       "program", "sources", "types", "walk"}}


def asked_by(folder):
    """Returns the modules and folders of the package that a folder imports, with the file that does
    so."""
    for path in sorted((_PACKAGE / folder).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "pallascope":
                names = node.module.split(".")[1:2] or [alias.name for alias in node.names]
                yield from ((name, path.name) for name in names if name != folder)


def test_a_folder_asks_those_that_stand_below_it():
    assert sorted(_ALLOWED) == _FOLDERS
    wrong = [f"{folder}/{file} imports {name}" for folder, allowed in _ALLOWED.items()
             for name, file in asked_by(folder) if name not in allowed]
    assert not wrong, "\n".join(wrong)


def test_pip_installs_every_folder():
    project = tomllib.loads((_PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["setuptools"]["packages"] == [
        "pallascope", *(f"pallascope.{folder}" for folder in _FOLDERS)]


def test_every_module_says_what_it_is_for_and_no_part_is_too_large():
    wrong = []
    for path in sorted(_PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        if not ast.get_docstring(tree):
            wrong.append(f"{path}: no docstring")
        if text.count("\n") > 500:
            wrong.append(f"{path}: more than 500 lines")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 60:
                wrong.append(f"{path}:{node.lineno}: {node.name} has more than 60 lines")
            if isinstance(node, ast.ClassDef) and sum(
                    isinstance(member, ast.FunctionDef) for member in node.body) > 40:
                wrong.append(f"{path}:{node.lineno}: {node.name} has more than 40 functions")
    assert not wrong, "\n".join(wrong)
