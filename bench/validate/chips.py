"""Chip files with other figures, to fit them and to take terms of the model away."""
import copy
import json
import pathlib

import rows as kit

CHIPS = kit.ROOT / "resources" / "chips"


def read(name):
    return json.loads((CHIPS / f"{name}.json").read_text())


def edited(chip, figures):
    """A copy with other values of figures, by their places such as "units/MXU/cycles_per_tile".
    Entries of lists are named by `name` or `kind`. A figure that is not there is made."""
    found = copy.deepcopy(chip)
    for place, value in figures.items():
        node = found
        *path, last = place.split("/")
        for key in path:
            if isinstance(node, list):
                node = next(entry for entry in node if key in (entry.get("name"), entry.get("kind")))
            else:
                node = node.setdefault(key, {})
        if value is None:
            node.pop(last, None)
        else:
            node[last] = {**node.get(last, {"source": "tried", "status": "assumed"}), "value": value}
    return found


def write(chip, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chip['name']}.json"
    path.write_text(json.dumps(chip))
    return path
