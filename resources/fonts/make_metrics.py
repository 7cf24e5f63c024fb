#!/usr/bin/env python3
"""Writes views/layout/scene/font_metrics_table.inc: advance widths of the bundled fonts.

The layouts measure text without Qt; they may, because the fonts are bundled and never substituted.
Needs fonttools (apt install python3-fonttools). Run it again when a font file changes:

    python3 resources/fonts/make_metrics.py
"""
from pathlib import Path

from fontTools.ttLib import TTFont

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "views" / "layout" / "scene" / "font_metrics_table.inc"
FACES = (  # in the order of layout::Weight
    "PallascopeSans-Regular.otf",
    "PallascopeSans-Medium.otf",
    "PallascopeSans-SemiBold.otf",
    "JetBrainsMono-Regular.ttf",
    "JetBrainsMono-Bold.ttf",
)
# Beyond ASCII and Latin-1: what captions, axes, tooltips and listings use.
SYMBOLS = (
    "–—‘’“”•…‹›€™−×÷·≈≠≤≥∞√∑∏∂∆∈←↑→↓↔▲△▶▷▸▼▽◀◂◆◇○●◦■□▪✓✗"
    "αβγδεηθλμπρστφψωΔΣΩ⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉\u2002\u2003\u2007\u2009\u200a\u202f"
)


def advances(file):
    """Advance per code point in thousandths of the font size; absent glyphs are left out."""
    font = TTFont(file)
    cmap, metrics = font.getBestCmap(), font["hmtx"]
    em = font["head"].unitsPerEm
    codes = [*range(0x20, 0x7F), *range(0xA0, 0x100), *sorted({ord(c) for c in SYMBOLS})]
    return {c: round(metrics[cmap[c]][0] * 1000 / em) for c in sorted(set(codes)) if c in cmap}


def main():
    faces = [advances(HERE / name) for name in FACES]
    codes = sorted(set().union(*faces))
    rows = []
    for code in codes:
        # A face without the glyph gets it from a fallback font: as wide as 'n' is the best guess.
        widths = ", ".join(str(face.get(code, face[ord("n")])) for face in faces)
        rows.append(f"    {{0x{code:04X}, {{{widths}}}}},")
    TABLE.write_text(
        "// Written by resources/fonts/make_metrics.py: do not edit. Advances in thousandths of the size,\n"
        f"// per face: {', '.join(name.split('.')[0] for name in FACES)}.\n" + "\n".join(rows) + "\n"
    )
    missing = {name: [chr(c) for c in codes if c not in face] for name, face in zip(FACES, faces)}
    for name, glyphs in missing.items():
        print(f"{name}: without {' '.join(glyphs) or 'nothing'}")


if __name__ == "__main__":
    main()
