"""The files themselves, and the command that writes them."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import zipfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from forked_commands import Commands
from pallascope import __main__ as command_line
from pallascope.jax_compat import chips as known_chips
from pallascope.jax_compat import gpu_chips
from support import (PALLASCOPE, call, integers, like, operations, pallascope, pipeline_of,
                     pl, pltpu, run)

_PACKAGE = pathlib.Path(pallascope.__file__).parents[1]


def copy(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1


def copies(x):
    rows = pl.BlockSpec((8, 128), lambda i: (i, 0))
    return call(copy, grid=(2,), in_specs=[rows], out_specs=rows,
                out_shape=like(16, 128, dtype=jnp.int32))(x)


def shown(path):
    done = subprocess.run([PALLASCOPE, "print", path], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_same_kernel_gives_the_same_bytes(tmp_path):
    for name in ("a.pallascope", "b.pallascope"):
        pallascope.capture(copies, integers(16, 128)).save(tmp_path / name)
    assert (tmp_path / "a.pallascope").read_bytes() == (tmp_path / "b.pallascope").read_bytes()


def test_both_forms_hold_the_same_program(tmp_path):
    kernel = pallascope.capture(copies, like(16, 128, dtype=jnp.int32))
    kernel.save(tmp_path / "k.kernel.json")
    kernel.save(tmp_path / "k.pallascope")
    assert shown(tmp_path / "k.kernel.json") == shown(tmp_path / "k.pallascope")


def test_values_travel_in_the_archive_only(tmp_path):
    kernel = pallascope.capture(copies, integers(16, 128))
    with pytest.raises(ValueError, match="has no place for arrays"):
        kernel.save(tmp_path / "k.kernel.json")
    kernel.save(tmp_path / "k.kernel.json", values=False)
    kernel.save(tmp_path / "k.pallascope")
    with zipfile.ZipFile(tmp_path / "k.pallascope") as archive:
        assert "arrays/arg0.npy" in archive.namelist()
    assert sorted(os.listdir(tmp_path)) == ["k.kernel.json", "k.pallascope"]


def test_a_link_is_kept_and_what_a_killed_writer_left_removed(tmp_path):
    kernel = pallascope.capture(copies, like(16, 128, dtype=jnp.int32))
    (tmp_path / "there").mkdir()
    (tmp_path / "k.kernel.json").symlink_to("there/found.kernel.json")
    gone = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True)
    start = f".found.kernel.json.{socket.gethostname()}-"
    left, kept = f"{start}{gone.stdout.strip()}-0.part", f"{start}{os.getpid()}-0.part"
    for name in (left, kept):
        (tmp_path / "there" / name).write_text("")
    for _ in ("not there yet", "there"):
        kernel.save(tmp_path / "k.kernel.json")
    assert (tmp_path / "k.kernel.json").is_symlink()
    assert sorted(os.listdir(tmp_path / "there")) == [kept, "found.kernel.json"]
    (tmp_path / "round.kernel.json").symlink_to("round.kernel.json")
    with pytest.raises(OSError, match="symbolic links"):
        kernel.save(tmp_path / "round.kernel.json")


def test_numbers_of_64_bits_are_what_jax_takes_them_for():
    added = np.arange(128)

    def kernel(n_ref, x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...] * n_ref[0]

    def fn(n, x):
        smem = pl.BlockSpec(memory_space=pltpu.SMEM)
        blocks = [pl.BlockSpec(memory_space=pltpu.VMEM)] * 2
        return call(kernel, in_specs=[smem, *blocks], out_shape=like(8, 128))(
            jnp.reshape(n, (1,)), x, jnp.asarray(added[None], jnp.float32))

    (found,) = run(pallascope.capture(fn, 3, np.ones((8, 128))))
    np.testing.assert_array_equal(found, 1 + 3 * np.resize(added, (8, 128)))


def test_an_ending_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="must end in"):
        pallascope.capture(copies, like(16, 128, dtype=jnp.int32)).save(tmp_path / "k.zip")
    assert not list(tmp_path.iterdir())


def test_default_index_maps_bring_no_source_of_jax():
    def add(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    kernel = pallascope.capture(call(add, out_shape=like(8, 128)), like(8, 128))
    assert [os.path.basename(name) for name in kernel.texts] == ["test_files.py"]
    assert {os.path.basename(place["file"]) for place in kernel.document["locations"]} == {
        "test_files.py"}


def test_every_operation_has_the_authors_line():
    kernel = pallascope.capture(copies, like(16, 128, dtype=jnp.int32))
    (name,) = {location["file"] for location in kernel.document["locations"]}
    lines = kernel.texts[name].splitlines()
    places = [kernel.document["locations"][operation["location"]]
              for operation in pipeline_of(kernel)["regions"][0]["operations"]]
    assert {lines[place["line"] - 1].strip() for place in places} == {
        "o_ref[...] = x_ref[...] + 1"}
    assert {place["function"] for place in places} == {"copy"}


def test_functions_of_jax_have_the_line_of_each_call():
    def kernel(x_ref, o_ref):
        o_ref[0:8] = jnp.clip(x_ref[0:8], -5, 5)
        o_ref[8:16] = jnp.clip(x_ref[8:16], -5, 5)

    def fn(x):
        return call(kernel, out_shape=like(16, 128, dtype=jnp.int32))(x)

    document = pallascope.capture(fn, integers(16, 128)).document
    lines = [document["locations"][operation["location"]]["line"]
             for operation in operations(document["body"])
             if operation["op"] in ("clamp", "max", "min")]
    assert lines and len(lines) % 2 == 0
    first = kernel.__code__.co_firstlineno + 1
    assert lines == [first] * (len(lines) // 2) + [first + 1] * (len(lines) // 2)


def test_inputs_can_be_replaced(tmp_path):
    x = integers(16, 128, seed=9)
    np.savez(tmp_path / "in.npz", arg0=x)
    kernel = pallascope.capture(copies, integers(16, 128))
    (found,) = run(kernel, "--inputs", str(tmp_path / "in.npz"))
    np.testing.assert_array_equal(found, x + 1)


def test_the_file_says_which_jax_wrote_it(tmp_path):
    pallascope.capture(copies, like(16, 128, dtype=jnp.int32)).save(tmp_path / "k.kernel.json")
    subprocess.run([PALLASCOPE, "save", tmp_path / "k.kernel.json", "-o",
                    tmp_path / "again.kernel.json"], check=True)
    for name in ("k.kernel.json", "again.kernel.json"):
        document = json.loads((tmp_path / name).read_text())
        assert document["producer"] == f"pallascope with JAX {jax.__version__}"


def test_the_name_is_the_functions_or_as_asked():
    shape = like(16, 128, dtype=jnp.int32)
    assert pallascope.capture(copies, shape).document["name"] == "copies"
    assert pallascope.capture(copies, shape, name="mine").document["name"] == "mine"


@pytest.mark.parametrize("chip", ["tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e", "tpu_v7x"])
def test_kernels_ask_for_the_chip_that_they_are_captured_for(chip):
    from jax.experimental.pallas import tpu as pltpu
    seen = []

    def fn(x):
        seen.append(pltpu.get_tpu_info().generation)
        return copies(x)

    kernel = pallascope.capture(fn, like(16, 128, dtype=jnp.int32), chip=chip)
    assert seen == [int(chip[5])]
    assert kernel.document["chip"] == chip


def test_chips_have_the_aliases_of_their_files():
    folder = pathlib.Path(__file__).parents[2] / "resources" / "chips"
    chips = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    assert sorted(chip["name"] for chip in chips) == sorted(known_chips.NAMES)
    for chip in chips:
        for name in (chip["name"], *chip.get("aliases", ())):
            assert known_chips.chip_named(name) == chip["name"]


def test_gpus_are_those_of_their_files():
    folder = pathlib.Path(__file__).parents[2] / "resources" / "chips"
    for name, gpu in gpu_chips.GPUS.items():
        chip = json.loads((folder / f"{name}.json").read_text())
        block = chip["multiprocessor"]
        assert gpu[1:] == (chip["agents"][0]["slots"]["value"],
                           tuple(block["compute_capability"]["value"]),
                           block["shared_per_block"]["value"])


# ---- the command -----------------------------------------------------------------------------

SCRIPT = """
import jax
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def doubled(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

def updated(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]
    return pl.pallas_call(kernel, out_shape=x, input_output_aliases={1: 0})(x, y)

def sums(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = jax.lax.zeta(x_ref[...], 2.0)
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

number = 5

class Shape:
    pass

def leaves(x):
    raise SystemExit(0)

def stops(x):
    raise KeyboardInterrupt
"""


_ENVIRONMENT = os.environ | {"PYTHONPATH": str(_PACKAGE)}


def written(folder):
    (folder / "script.py").write_text(SCRIPT)
    (folder / "leaves.py").write_text("raise SystemExit\n")
    return folder


def command(folder, *arguments):
    """Runs the command in a Python that is started for it. Only what depends on how it starts needs
    that, as it takes seconds; see `forked`."""
    return subprocess.run([sys.executable, "-m", "pallascope", "capture", *arguments],
                          cwd=written(folder), env=_ENVIRONMENT, capture_output=True,
                          text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def forked():
    """Returns what runs the command in a process that is forked from one with JAX."""
    with Commands(_ENVIRONMENT) as commands:
        yield lambda folder, *arguments: commands.run(written(folder), "capture", *arguments)


def test_the_command_writes_a_file_that_runs(tmp_path):
    done = command(tmp_path, "script.py:doubled", "--arg", "bf16[16,128]", "-o", "k.pallascope")
    assert done.returncode == 0, done.stderr
    assert "k.pallascope" in done.stdout and jax.__version__ in done.stdout
    listing = shown(tmp_path / "k.pallascope")
    assert listing.startswith("doubled(x:Ref<hbm>{bf16[16,128]}")
    with zipfile.ZipFile(tmp_path / "k.pallascope") as archive:
        document = json.loads(archive.read("kernel.json"))
        assert document["sources"][0]["file"] == "script.py"
        assert archive.read(document["sources"][0]["member"]).decode() == SCRIPT


def test_the_command_names_what_it_cannot_capture_and_writes_nothing(tmp_path):
    done = command(tmp_path, "script.py:sums", "--arg", "f32[8,128]", "-o", "k.pallascope")
    assert done.returncode == 2
    assert "script.py:18 (sums.<locals>.kernel): primitive zeta" in done.stderr
    assert not (tmp_path / "k.pallascope").exists()


@pytest.mark.parametrize(("donated", "copied"), [([], True), ([0], True), ([1], False),
                                                 ([0, 1], False), ([-1], False)])
def test_the_command_says_which_arguments_are_donated(forked, tmp_path, donated, copied):
    flags = [word for number in donated for word in ("--donate", str(number))]
    done = forked(tmp_path, "script.py:updated", *["--arg", "f32[16,128]"] * 2, *flags,
                   "-o", "k.kernel.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "k.kernel.json").read_text())
    found = [operation["op"] for operation in operations(document["body"])]
    assert ("fusion" in found) == copied
    assert document["arguments"][-1].get("alias_of") == (None if copied else 1)


@pytest.mark.parametrize("dtype", ["i32", "u8", "i4"])
def test_an_argument_may_have_the_dtype_that_print_shows(forked, tmp_path, dtype):
    done = forked(tmp_path, "script.py:doubled", "--arg", f"{dtype}[64,128]", "-o", "k.pallascope")
    assert done.returncode == 0, done.stderr
    assert shown(tmp_path / "k.pallascope").startswith(
        f"doubled(x:Ref<hbm>{{{dtype}[64,128]}}")


def test_the_program_captures_through_python(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [PALLASCOPE, "capture", "script.py:doubled", "--arg", "bf16[16,128]", "-o", "k.pallascope",
         "--python", sys.executable], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env=os.environ | {"PYTHONPATH": str(_PACKAGE)}, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"$ {sys.executable} -m pallascope capture script.py:doubled")
    assert shown(tmp_path / "k.pallascope").startswith("doubled(x:Ref<hbm>{bf16[16,128]}")


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["script.py:nothing"], "script.py has no function nothing"),
    (["script.py:number"], "script.py has no function number"),
    (["other.py:doubled"], "there is no file other.py"),
    (["script.py"], "script.py is no FILE.py:FUNCTION"),
    (["script.py:doubled"], "doubled is given no --arg: missing a required argument: 'x'"),
    (["script.py:Shape"], "Shape of script.py is a class; name a function"),
    (["script.py:leaves", "--arg", "f32[8,128]"], "(leaves): sys.exit(0) ends it"),
    (["leaves.py:f"], "leaves.py:1 (<module>): sys.exit(None) ends it"),
    (["script.py:stops", "--arg", "f32[8,128]"], "interrupted; nothing was written"),
    (["script.py:doubled", "--arg", "f32[8,,128]"], "--arg 'f32[8,,128]' is no DTYPE[SHAPE]"),
    (["script.py:doubled", "--arg", "f32[8,128,]"], "--arg 'f32[8,128,]' is no DTYPE[SHAPE]"),
    (["script.py:doubled", "--arg", "f32[4294967296]"],
     "has the extent 4294967296; expected 2147483647 at most"),
    (["script.py:doubled", "--arg", "f32[8,128]", "--cores", "two"],
     "the command line is not understood: argument --cores: invalid int value: 'two'"),
    (["script.py:doubled", "--arg", "f32[8,128]", "--mesh", "x=4", "--mesh", "x=2"],
     "--mesh names the axis x twice"),
    (["script.py:doubled", "--arg", "f31[8]"], "--arg 'f31[8]' is no DTYPE[SHAPE]"),
    (["script.py:doubled", "--arg", "f32[8,128"], "--arg 'f32[8,128' is no DTYPE[SHAPE]"),
    (["script.py:doubled", "--arg", "f32[8,128]", "--donate", "1"],
     "donate=1 is no argument of the function, which is given 1; use their numbers, from 0 on")])
def test_the_command_refuses_with_one_sentence(forked, tmp_path, arguments, sentence):
    done = forked(tmp_path, *arguments, "-o", "k.pallascope")
    assert done.returncode == (130 if "interrupted" in sentence else 2)
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "k.pallascope").exists()


@pytest.mark.parametrize(("words", "code"), [
    (">/dev/full", 2), ("2>/dev/full", 0), (">/dev/full 2>&1", 2)])
def test_streams_that_fail_lose_no_file(tmp_path, words, code):
    (tmp_path / "script.py").write_text(SCRIPT)
    line = [sys.executable, "-m", "pallascope", "capture", "script.py:doubled", "--arg",
            "f32[8,128]", "-o", "k.pallascope"]
    done = subprocess.run(["bash", "-c", f'"$@" {words}', "bash", *line], cwd=tmp_path, check=False,
                          env=os.environ | {"PYTHONPATH": str(_PACKAGE)}, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == code
    assert done.stderr in ("", "pallascope: cannot write to standard output: No space left on "
                               "device.\n")
    assert shown(tmp_path / "k.pallascope").startswith("doubled(")


def test_a_mistake_of_ours_is_called_one(tmp_path, monkeypatch, capsys):
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.setattr(command_line, "capture", {}.__getitem__)  # raises in no one's line
    found = command_line.main(["capture", f"{tmp_path}/script.py:doubled", "--arg", "f32[8,128]",
                               "-o", str(tmp_path / "k.pallascope")])
    assert found == 3
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("Traceback")
    assert said[-1].startswith("pallascope: stopped on a mistake of its own: TypeError")


MISTAKES = """
import jax.numpy as jnp


def shapes(x):
    return jnp.dot(x, x)


def branches(x):
    return x if x[0, 0] > 0 else -x


def name(x):
    return y
"""


@pytest.mark.parametrize(("function", "sentence"), [
    ("shapes", "mistakes.py:6 (shapes): TypeError: dot_general requires contracting dimensions"),
    ("branches", "mistakes.py:10 (branches): TracerBoolConversionError: Attempted boolean"),
    ("name", "mistakes.py:14 (name): NameError: name 'y' is not defined")])
def test_a_mistake_of_the_author_ends_in_a_sentence_with_its_line(forked, tmp_path, function,
                                                                  sentence):
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    done = forked(tmp_path, f"mistakes.py:{function}", "--arg", "f32[8,128]", "-o", "k.pallascope")
    assert done.returncode == 2
    assert done.stderr.startswith("Traceback")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("pallascope: ") and sentence in last
    assert not (tmp_path / "k.pallascope").exists()


def test_what_is_no_python_is_said_with_its_line(tmp_path):
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    done = command(tmp_path, "broken.py:f", "-o", "k.pallascope")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("broken.py:2: SyntaxError: invalid syntax.")


def test_a_place_that_cannot_be_written_is_said(forked, tmp_path):
    done = forked(tmp_path, "script.py:doubled", "--arg", "bf16[16,128]", "-o", "no/k.pallascope")
    assert (done.returncode, done.stderr) == (
        2, "pallascope: cannot write no/k.pallascope: No such file or directory.\n")


def test_a_file_of_a_package_imports_from_it(tmp_path):
    folder = tmp_path / "mine" / "kernels"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder.parent / "__init__.py").write_text("WIDTH = 128\n")
    (folder / "scale.py").write_text(SCRIPT)
    (folder / "ops.py").write_text("from mine import WIDTH\nfrom .scale import doubled\n"
                                   "from . import scale\n")
    done = command(tmp_path, "mine/kernels/ops.py:doubled", "--arg", "f32[8,128]",
                   "-o", "k.pallascope")
    assert done.returncode == 0, done.stderr


def test_of_a_package_only_what_the_file_imports_is_run(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("import nothing_that_is_there\n")
    (tmp_path / "mine" / "ops.py").write_text(SCRIPT)
    done = command(tmp_path, "mine/ops.py:doubled", "--arg", "f32[8,128]", "-o", "k.pallascope")
    assert done.returncode == 0, done.stderr
