"""Where the compiler is, and what it says of the kernels that it makes."""
import os
import pathlib
import re
import shutil
import sys
import tempfile

# Kernels that XLA makes itself, beside those of Pallas.
XLA = re.compile(r"^(wrapped_|loop_|input_|fusion|copy|transpose|memset|memcpy|nvjet|cutlass|sm\d+_|gemm|"
                 r"triton_softmax|cub|void cub|.*_fusion|concatenate|slice|dynamic|scatter|\[CUDA|.*xla::)")
_FIGURES = {"registers": r"Used (\d+) registers", "spill_stores": r"(\d+) bytes spill stores",
            "spill_loads": r"(\d+) bytes spill loads"}


def prepare():
    """Sets, before JAX is imported, what it takes from the environment. Returns whether there is a ptxas.

    Mosaic GPU and XLA look for bin/ptxas, bin/nvdisasm and nvvm/libdevice under CUDA_ROOT. Kernels are compiled as
    they stand, without a search for settings, and launched one by one. What `ptxas -v` says of them is printed.
    """
    found = shutil.which("ptxas") or shutil.which("nvcc") or "/usr/local/cuda/bin/ptxas"
    root = pathlib.Path(os.environ.setdefault("CUDA_ROOT", str(pathlib.Path(found).resolve().parents[1])))
    os.environ |= {
        "CUDA_HOME": str(root), "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "JAX_ENABLE_COMPILATION_CACHE": "false", "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "MOSAIC_GPU_DUMP_PTXAS": "1", "TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "subprocess_compilation=5",
        "XLA_FLAGS": f"--xla_gpu_cuda_data_dir={root} --xla_gpu_autotune_level=0 --xla_gpu_enable_command_buffer= "
                     "--xla_gpu_enable_triton_gemm=false"}
    return (root / "bin" / "ptxas").exists()


class Caught:
    """What is written to the standard output and error, by libraries too, ends in `text`."""

    def __enter__(self):
        sys.stdout.flush()
        sys.stderr.flush()
        self._file = tempfile.TemporaryFile()
        self._kept = os.dup(1), os.dup(2)
        for to in (1, 2):
            os.dup2(self._file.fileno(), to)
        return self

    def __exit__(self, *_):
        sys.stdout.flush()
        sys.stderr.flush()
        for to, kept in enumerate(self._kept, 1):
            os.dup2(kept, to)
            os.close(kept)
        self._file.seek(0)
        self.text = self._file.read().decode(errors="replace")
        self._file.close()


def resources(text):
    """The most registers and spilled bytes of the kernels that `ptxas -v` tells of: of those of Pallas, if any."""
    entries = text.split("Compiling entry function")[1:]
    ours = [entry for entry in entries if not XLA.match("".join(re.findall(r"'([^']+)'", entry)[:1]))] or entries
    return {name: max(int(found[1]) if (found := re.search(pattern, entry)) else 0 for entry in ours)
            for name, pattern in _FIGURES.items()} if ours else {}
