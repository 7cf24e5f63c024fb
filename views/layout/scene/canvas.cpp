#include "views/layout/scene/canvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pallascope::layout {

namespace {

constexpr double kInset = 5; // px from the edge of a bar to its text

// Rounds both edges rather than the size, so that neighbours share an edge.
Rect wholePixels(double x, double y, double w, double h)
{
    const double x0 = std::round(x);
    const double y0 = std::round(y);
    return {x0, y0, std::round(x + w) - x0, std::round(y + h) - y0};
}

// The parts of "a |b| c" in order; every second one is strong.
std::vector<std::string_view> splitAtBars(std::string_view text)
{
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t bar = text.find('|');
        parts.push_back(text.substr(0, bar));
        if (bar == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(bar + 1);
    }
}

struct Run // a piece of one weight within a word or a line
{
    std::string text;
    bool strong = false;
};

// Words are separated by spaces. The weight may change inside a word ("|1.60| µs,").
std::vector<std::vector<Run>> splitWords(std::string_view text)
{
    std::vector<std::vector<Run>> words(1);
    bool strong = false;
    for (const std::string_view part : splitAtBars(text)) {
        for (const char c : part) {
            if (c == ' ') {
                if (!words.back().empty()) {
                    words.emplace_back();
                }
                continue;
            }
            std::vector<Run>& word = words.back();
            if (word.empty() || word.back().strong != strong) {
                word.push_back({{}, strong});
            }
            word.back().text += c;
        }
        strong = !strong;
    }
    return words;
}

} // namespace

Canvas::Canvas(double width, double height)
{
    m_scene.width = width;
    m_scene.height = height;
}

void Canvas::fill(double x, double y, double w, double h, Color color)
{
    const Rect rect = wholePixels(x, y, w, h);
    if (rect.w > 0 && rect.h > 0) {
        m_scene.items.emplace_back(FillItem{rect, color});
    }
}

void Canvas::frame(double x, double y, double w, double h, Color color, double thickness)
{
    const Rect r = wholePixels(x, y, w, h);
    if (r.w <= 2 * thickness || r.h <= 2 * thickness) {
        fill(r.x, r.y, r.w, r.h, color);
        return;
    }
    fill(r.x, r.y, r.w, thickness, color);
    fill(r.x, r.bottom() - thickness, r.w, thickness, color);
    fill(r.x, r.y + thickness, thickness, r.h - 2 * thickness, color);
    fill(r.right() - thickness, r.y + thickness, thickness, r.h - 2 * thickness, color);
}

void Canvas::dashedFrame(double x, double y, double w, double h, Color color)
{
    constexpr double kOn = 3;
    constexpr double kPitch = 5;
    const Rect r = wholePixels(x, y, w, h);
    for (double i = 0; i < r.w; i += kPitch) {
        const double on = std::min(kOn, r.w - i);
        fill(r.x + i, r.y, on, 1, color);
        fill(r.x + i, r.bottom() - 1, on, 1, color);
    }
    for (double i = 0; i < r.h; i += kPitch) {
        const double on = std::min(kOn, r.h - i);
        fill(r.x, r.y + i, 1, on, color);
        fill(r.right() - 1, r.y + i, 1, on, color);
    }
}

void Canvas::dashedVertical(double x, double y0, double y1, Color color)
{
    constexpr double kOn = 2;
    constexpr double kPitch = 5;
    for (double y = std::round(y0); y < y1; y += kPitch) {
        fill(std::round(x), y, 1, std::min(kOn, y1 - y), color);
    }
}

void Canvas::hatch(double x, double y, double w, double h, Color color, Color background,
                   Hatch kind)
{
    const Rect rect = wholePixels(x, y, w, h);
    if (rect.w > 0 && rect.h > 0) {
        m_scene.items.emplace_back(HatchItem{rect, color, background, kind});
    }
}

void Canvas::line(std::vector<Point> points, Color color, double width, std::vector<double> dash)
{
    if (points.size() > 1) {
        m_scene.items.emplace_back(PolylineItem{std::move(points), color, width, std::move(dash)});
    }
}

void Canvas::polygon(std::vector<Point> points, Color fill)
{
    m_scene.items.emplace_back(PolygonItem{std::move(points), fill, false, {}, 1});
}

void Canvas::polygon(std::vector<Point> points, Color fill, Color edge, double edgeWidth)
{
    m_scene.items.emplace_back(PolygonItem{std::move(points), fill, true, edge, edgeWidth});
}

void Canvas::disc(double x, double y, double radius, Color fill, Color edge, double edgeWidth)
{
    m_scene.items.emplace_back(DiscItem{{x, y}, radius, fill, edge, edgeWidth});
}

void Canvas::image(Rect rect, int columns, int rows, std::vector<Color> palette,
                   std::vector<std::uint8_t> cells)
{
    m_scene.items.emplace_back(ImageItem{wholePixels(rect.x, rect.y, rect.w, rect.h), columns, rows,
                                         std::move(palette), std::move(cells)});
}

void Canvas::pushClip(double x, double y, double w, double h)
{
    m_scene.items.emplace_back(ClipItem{wholePixels(x, y, w, h), false});
}

void Canvas::popClip()
{
    m_scene.items.emplace_back(ClipItem{{}, true});
}

void Canvas::text(double x, double y, double w, double h, std::string_view text, TextStyle style)
{
    std::string shown = elided(text, w, style.size, style.weight);
    if (!shown.empty()) {
        m_scene.items.emplace_back(TextItem{{std::round(x), std::round(y), w, h},
                                            std::move(shown),
                                            style.size,
                                            style.weight,
                                            style.color,
                                            style.align,
                                            false,
                                            0});
    }
}

bool Canvas::label(double x, double y, double w, double h, std::string_view text, Color fill,
                   int size, Weight weight)
{
    const double room = w - kInset - 3;
    if (text.empty() || h < size + 2 || textWidth(text, size, weight) > room) {
        return false;
    }
    m_scene.items.emplace_back(TextItem{{std::round(x + kInset), std::round(y), room, h},
                                        std::string(text),
                                        size,
                                        weight,
                                        fill,
                                        Align::Left,
                                        true,
                                        0});
    return true;
}

void Canvas::rotatedText(double x, double y, std::string_view text, double angle, TextStyle style)
{
    const double w = textWidth(text, style.size, style.weight) + 1;
    m_scene.items.emplace_back(TextItem{{x, y, w, style.size * 1.3},
                                        std::string(text),
                                        style.size,
                                        style.weight,
                                        style.color,
                                        style.align,
                                        false,
                                        angle});
}

double Canvas::rich(double x, double y, double w, double h, std::string_view text, int size,
                    Color color)
{
    constexpr double kLeast = 8; // px; in less not even an ellipsis fits
    double at = x;
    bool strong = false;
    for (const std::string_view part : splitAtBars(text)) {
        const Weight weight = strong ? Weight::Medium : Weight::Regular;
        const TextStyle style = {size, strong ? Color(Role::Text) : color, weight, Align::Left};
        strong = !strong;
        if (part.empty()) {
            continue;
        }
        const double partWidth = textWidth(part, size, weight);
        const double room = x + w - at;
        if (room < kLeast) {
            return at;
        }
        if (partWidth > room + 0.5) {
            std::string shown = elided(part, room, size, weight);
            const double shownWidth = textWidth(shown, size, weight);
            m_scene.items.emplace_back(TextItem{{at, std::round(y), shownWidth + 1, h},
                                                std::move(shown),
                                                size,
                                                weight,
                                                style.color,
                                                Align::Left,
                                                false,
                                                0});
            return at + shownWidth;
        }
        // This avoids text(), because positions within a sentence stay fractional.
        m_scene.items.emplace_back(TextItem{{at, std::round(y), partWidth + 1, h},
                                            std::string(part),
                                            size,
                                            weight,
                                            style.color,
                                            Align::Left,
                                            false,
                                            0});
        at += partWidth;
    }
    return at;
}

double Canvas::paragraph(double x, double y, double w, std::string_view text, int size,
                         double lineHeight, Color color)
{
    const auto widthOf = [size](const Run& run) {
        return textWidth(run.text, size, run.strong ? Weight::SemiBold : Weight::Regular);
    };
    std::vector<Run> line;
    double used = 0;
    const auto flush = [&] {
        double at = x;
        for (const Run& run : line) {
            const Weight weight = run.strong ? Weight::SemiBold : Weight::Regular;
            const double runWidth = widthOf(run);
            m_scene.items.emplace_back(TextItem{{at, std::round(y), runWidth + 1, lineHeight},
                                                elided(run.text, x + w - at, size, weight),
                                                size,
                                                weight,
                                                run.strong ? Color(Role::Text) : color,
                                                Align::Left,
                                                false,
                                                0});
            at += runWidth;
        }
        line.clear();
        used = 0;
        y += lineHeight;
    };
    const double space = textWidth(" ", size);
    for (const std::vector<Run>& word : splitWords(text)) {
        double wordWidth = 0;
        for (const Run& run : word) {
            wordWidth += widthOf(run);
        }
        if (!line.empty() && used + space + wordWidth > w) {
            flush();
        }
        for (std::size_t i = 0; i < word.size(); ++i) {
            const bool joins = !line.empty() && line.back().strong == word[i].strong;
            const std::string gap = i == 0 && !line.empty() ? " " : "";
            if (joins) {
                line.back().text += gap + word[i].text;
            } else {
                if (!gap.empty()) {
                    line.back().text += gap;
                }
                line.push_back(word[i]);
            }
            used += (gap.empty() ? 0 : space) + widthOf(word[i]);
        }
    }
    if (!line.empty()) {
        flush();
    }
    return y;
}

void Canvas::hit(double x, double y, double w, double h, Target target)
{
    m_scene.hits.push_back({{x, y, w, h}, target});
}

void Canvas::state(Fact fact)
{
    m_scene.facts.push_back(std::move(fact));
}

void Canvas::state(const std::vector<Fact>& facts)
{
    m_scene.facts.insert(m_scene.facts.end(), facts.begin(), facts.end());
}

Scene Canvas::finish(std::string title, std::string caption) &&
{
    m_scene.title = std::move(title);
    m_scene.caption = std::move(caption);
    return std::move(m_scene);
}

} // namespace pallascope::layout
