// Paints the kernels of a program into its roofline.
#include "core/base/format.h"
#include "core/trace/pieces.h"
#include "views/layout/roofline/painter.h"

namespace pallascope::layout::roofline {

std::vector<Kernel> kernelsOf(const RunView& run, std::int32_t device)
{
    constexpr std::int64_t kMost = 16;
    const trace::Pieces& pieces = run.index->pieces(device);
    std::vector<Kernel> kernels;
    for (std::size_t i = 0; i < pieces.all.size(); ++i) {
        const trace::Piece& piece = pieces.all[i];
        if (pieces.kernels < 2 || pieces.kernels > kMost || !piece.isKernel()) {
            continue;
        }
        if (const auto point =
                analysis::windowPoint(*run.index, piece.end, piece.end - piece.begin)) {
            kernels.push_back({i, *point});
        }
    }
    return kernels;
}

void Painter::kernels()
{
    const trace::Pieces& pieces = m_run.index->pieces(m_state.device);
    const std::size_t current = pieces.at(m_state.now);
    for (const Kernel& kernel : kernelsOf(m_run, m_state.device)) {
        if (kernel.point.intensity <= 0 || !inSight(kernel.point)) {
            continue;
        }
        const trace::Piece& piece = pieces.all[kernel.piece];
        const layout::Point p = at(kernel.point);
        const bool isCurrent = kernel.piece == current;
        m_canvas.polygon({{p.x, p.y - 6}, {p.x + 6, p.y}, {p.x, p.y + 6}, {p.x - 6, p.y}},
                         Role::View, isCurrent ? Role::Select : Role::Text2, isCurrent ? 2 : 1.6);
        m_canvas.hit(
            p.x - 7, p.y - 7, 14, 14,
            target::Piece{m_state.device, static_cast<std::int64_t>(kernel.piece), piece.begin});
        m_taken.push_back({p.x - 7, p.y - 7, 14, 14});
        m_kernels.emplace_back(p, piece.number);
    }
}

void Painter::numberKernels()
{
    for (const auto& [p, number] : m_kernels) {
        const std::string text = countText(number);
        const double w = textWidth(text, m_small, Weight::Medium) + 2;
        for (const Rect& box :
             {Rect{p.x + 9, p.y - 7, w, 14}, Rect{p.x - 9 - w, p.y - 7, w, 14},
              Rect{p.x - w / 2, p.y - 21, w, 14}, Rect{p.x - w / 2, p.y + 7, w, 14}}) {
            if (isFree(box)) {
                m_canvas.text(box.x, box.y, box.w, box.h, text,
                              {m_small, Role::Text2, Weight::Medium});
                m_taken.push_back(box);
                break;
            }
        }
    }
}

} // namespace pallascope::layout::roofline
