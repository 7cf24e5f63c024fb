#include "views/layout/run/view_parts.h"

#include "core/base/dtype.h"
#include "core/base/format.h"
#include "views/layout/run/operand_color.h"

#include <algorithm>

namespace pallascope::layout::parts {

bool writes(const trace::Operand& operand)
{
    return operand.direction != trace::Direction::In;
}

bool reads(const trace::Operand& operand)
{
    return operand.direction != trace::Direction::Out;
}

std::int64_t blockTotal(const trace::Operand& operand)
{
    std::int64_t total = 1;
    for (const Extent count : operand.blockCounts) {
        total *= count;
    }
    return total;
}

std::int64_t stepOrdinal(const trace::Trace& trace, trace::StepRow step)
{
    return trace.steps().ordinal[step.index()];
}

Role unitRole(UnitKind kind)
{
    switch (kind) {
    case UnitKind::Matrix:
        return Role::Mxu;
    case UnitKind::Vector:
    case UnitKind::Crosslane:
    case UnitKind::Load:
    case UnitKind::Store:
        return Role::Vpu;
    case UnitKind::Transcendental:
        return Role::Eup;
    case UnitKind::Scalar:
        return Role::Scalar;
    }
    return Role::Scalar;
}

std::string times(const std::vector<Extent>& extents)
{
    return join(extents, std::string(kTimes));
}

std::string arrayText(const Shape& shape, DType dtype)
{
    const std::string extents = shape.rank() == 0 ? "scalar" : times(shape.extents());
    return extents + " " + std::string(dtypeName(dtype));
}

std::string ofText(Bytes used, Bytes limit)
{
    std::string left = bytesText(used);
    const std::string right = bytesText(limit);
    const auto unitOf = [](const std::string& text) { return text.substr(text.rfind(' ') + 1); };
    if (unitOf(left) == unitOf(right)) {
        left.erase(left.rfind(' '));
    }
    return "|" + left + "| of " + right;
}

std::string plain(std::string text)
{
    text.erase(std::remove(text.begin(), text.end(), '|'), text.end());
    return text;
}

std::string baseName(std::string_view path)
{
    const std::size_t slash = path.find_last_of('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

void swatch(Canvas& canvas, const RunView& run, double x, double y, trace::OperandRow operand,
            double size)
{
    const Role role = operandRole(run, operand);
    canvas.fill(x, y, size, size, role);
    if (isRepeatedColor(run, operand)) {
        canvas.fill(x, y, 2, size, Role::Text);
    }
    canvas.state({FactKind::Swatch, operand.number, static_cast<double>(role), {}});
}

Scene finished(Canvas&& canvas, std::string title, std::string caption, const RunView& run,
               const ViewState& state)
{
    const bool refused = std::any_of(run.fields.begin(), run.fields.end(),
                                     [](const Field& field) { return !field.error.empty(); });
    if (state.stale || refused) {
        caption += " · of the previous run";
    }
    return std::move(canvas).finish(std::move(title), std::move(caption));
}

std::string captionOrNotRun(const RunView& run, std::string caption)
{
    return run.notRun.empty() ? std::move(caption) : "not run";
}

Scene nothing(std::string title, std::string caption, std::string_view sentence, Size size)
{
    Canvas canvas(size.width, size.height);
    canvas.paragraph(kPadding, 6, std::max(40.0, size.width - 2 * kPadding), sentence, 11, 16);
    return std::move(canvas).finish(std::move(title), std::move(caption));
}

} // namespace pallascope::layout::parts
