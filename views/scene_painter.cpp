#include "views/scene_painter.h"

#include "views/fonts.h"
#include "views/scene_diff.h"
#include "views/to_qt.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPolygonF>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace pallascope::views {
namespace {

using namespace layout;

struct HatchStep
{
    int step = 6;
    int thickness = 2;
};

HatchStep stepOf(Hatch hatch)
{
    switch (hatch) {
    case Hatch::Wait:
        return {6, 2};
    case Hatch::Undefined:
        return {8, 1};
    case Hatch::Estimate:
        return {4, 1};
    }
    return {};
}

// A tile of a rising 45 degree hatch. It is made in device pixels, so that its lines stay sharp at
// any scale.
QImage hatchTile(Hatch hatch, QRgb ink, double scale)
{
    const HatchStep size = stepOf(hatch);
    const int step = std::max(2, static_cast<int>(std::lround(size.step * scale)));
    const int thickness = std::max(1, static_cast<int>(std::lround(size.thickness * scale)));
    QImage tile(step, step, QImage::Format_ARGB32_Premultiplied);
    tile.fill(Qt::transparent);
    for (int y = 0; y < step; ++y) {
        for (int k = 0; k < thickness; ++k) {
            tile.setPixel((step - 1 - y + k) % step, y, ink);
        }
    }
    return tile;
}

// One object serves one call of paint(): it looks up colours per item and makes each tile once.
class ScenePainter
{
public:
    ScenePainter(QPainter& painter, Theme theme, const QRectF& exposed)
        : m_painter(painter)
        , m_theme(theme)
        , m_exposed(exposed)
        , m_scale(painter.device()->devicePixelRatioF())
    {}

    void run(const Scene& scene)
    {
        m_painter.save();
        m_painter.setRenderHint(QPainter::Antialiasing, false);
        m_painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
        m_painter.setBrushOrigin(0, 0);
        int clips = 0;
        for (const Item& item : scene.items) {
            if (const auto* clip = std::get_if<ClipItem>(&item)) {
                clips += clip->pop ? -1 : 1;
                paintClip(*clip);
                continue;
            }
            if (!m_exposed.isEmpty() && !m_exposed.intersects(bounds(item))) {
                continue;
            }
            std::visit([this](const auto& it) { draw(it); }, item);
        }
        for (; clips > 0; --clips) {
            m_painter.restore();
        }
        m_painter.restore();
    }

private:
    void paintClip(const ClipItem& clip)
    {
        if (clip.pop) {
            m_painter.restore();
            return;
        }
        m_painter.save();
        m_painter.setClipRect(toQt(clip.rect), Qt::IntersectClip);
    }

    void draw(const FillItem& item) { m_painter.fillRect(toQt(item.rect), ink(item.color)); }

    void draw(const HatchItem& item)
    {
        m_painter.fillRect(toQt(item.rect), ink(item.background));
        const QRgb rgb = ink(item.color).rgb();
        const auto key = std::make_tuple(item.hatch, rgb);
        auto found = m_tiles.find(key);
        if (found == m_tiles.end()) {
            QBrush brush(hatchTile(item.hatch, rgb, m_scale));
            brush.setTransform(QTransform::fromScale(1 / m_scale, 1 / m_scale));
            found = m_tiles.emplace(key, brush).first;
        }
        m_painter.fillRect(toQt(item.rect), found->second);
    }

    void draw(const PolylineItem& item)
    {
        QPen pen(ink(item.color), item.width, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin);
        if (!item.dash.empty()) {
            pen.setDashPattern(QList<qreal>(item.dash.begin(), item.dash.end()));
        }
        antialiased([&] {
            m_painter.setPen(pen);
            m_painter.setBrush(Qt::NoBrush);
            m_painter.drawPolyline(toQt(item.points));
        });
    }

    void draw(const PolygonItem& item)
    {
        antialiased([&] {
            m_painter.setPen(item.hasEdge ? QPen(ink(item.edge), item.edgeWidth) : QPen(Qt::NoPen));
            m_painter.setBrush(ink(item.fill));
            m_painter.drawPolygon(toQt(item.points));
        });
    }

    void draw(const DiscItem& item)
    {
        antialiased([&] {
            m_painter.setPen(item.edgeWidth > 0 ? QPen(ink(item.edge), item.edgeWidth)
                                                : QPen(Qt::NoPen));
            m_painter.setBrush(ink(item.fill));
            m_painter.drawEllipse(QPointF(item.center.x, item.center.y), item.radius, item.radius);
        });
    }

    void draw(const TextItem& item)
    {
        m_painter.setFont(fontOf(item.size, item.weight));
        m_painter.setPen(item.onFill ? color(inkOn(item.color, m_theme)) : ink(item.color));
        Qt::Alignment align = Qt::AlignLeft;
        if (item.align != Align::Left) {
            align = item.align == Align::Right ? Qt::AlignRight : Qt::AlignHCenter;
        }
        const int flags =
            static_cast<int>(align | Qt::AlignVCenter) | Qt::TextSingleLine | Qt::TextDontClip;
        if (item.angle == 0) {
            const QRectF rect(std::round(item.rect.x), std::round(item.rect.y), item.rect.w,
                              item.rect.h);
            m_painter.drawText(rect, flags, text(item.text));
            return;
        }
        const QTransform before = m_painter.transform();
        m_painter.translate(item.rect.x, item.rect.y);
        m_painter.rotate(item.angle);
        m_painter.drawText(QRectF(0, 0, item.rect.w, item.rect.h), flags, text(item.text));
        m_painter.setTransform(before);
    }

    void draw(const ImageItem& item)
    {
        if (item.columns <= 0 || item.rows <= 0) {
            return;
        }
        std::vector<QRgb> palette;
        palette.reserve(item.palette.size());
        for (const Color& entry : item.palette) {
            palette.push_back(ink(entry).rgb());
        }
        QImage image(item.columns, item.rows, QImage::Format_RGB32);
        std::size_t cell = 0;
        for (int row = 0; row < item.rows; ++row) {
            auto* line = reinterpret_cast<QRgb*>(image.scanLine(row));
            for (int column = 0; column < item.columns; ++column, ++cell) {
                line[column] = palette.at(item.cells.at(cell));
            }
        }
        m_painter.drawImage(toQt(item.rect), image);
    }

    void draw(const ClipItem& /*handled by run*/) {}

    template<class Body>
    void antialiased(const Body& body)
    {
        m_painter.setRenderHint(QPainter::Antialiasing, true);
        body();
        m_painter.setRenderHint(QPainter::Antialiasing, false);
    }

    [[nodiscard]] QColor ink(Color role) const { return color(role, m_theme); }

    const QFont& fontOf(int size, Weight weight)
    {
        const auto key = std::make_pair(size, weight);
        auto found = m_fonts.find(key);
        if (found == m_fonts.end()) {
            found = m_fonts.emplace(key, font(size, weight)).first;
        }
        return found->second;
    }

    QPainter& m_painter;
    Theme m_theme;
    QRectF m_exposed;
    double m_scale;
    std::map<std::tuple<Hatch, QRgb>, QBrush> m_tiles;
    std::map<std::pair<int, Weight>, QFont> m_fonts;
};

} // namespace

QColor color(Rgb rgb)
{
    return {rgb.r, rgb.g, rgb.b};
}

QColor color(Color role, Theme theme)
{
    return color(resolve(role, theme));
}

void paint(QPainter& painter, const Scene& scene, Theme theme, const QRectF& exposed)
{
    ScenePainter(painter, theme, exposed).run(scene);
}

QImage render(const Scene& scene, Theme theme, double devicePixelRatio)
{
    const QSize size(static_cast<int>(std::ceil(scene.width * devicePixelRatio)),
                     static_cast<int>(std::ceil(scene.height * devicePixelRatio)));
    QImage image(size, QImage::Format_RGB32);
    // Qt takes no ratio below 1 when it paints.
    const double ratio = std::max(1.0, devicePixelRatio);
    image.setDevicePixelRatio(ratio);
    image.fill(color(Role::View, theme));
    QPainter painter(&image);
    painter.scale(devicePixelRatio / ratio, devicePixelRatio / ratio);
    paint(painter, scene, theme);
    return image;
}

double paintRich(QPainter& painter, const QRectF& rect, const QString& text, int pixelSize,
                 Theme theme, RichColors colors)
{
    constexpr double kLeastRoom = 8; // px: less has no room for a letter and an ellipsis
    double x = rect.x();
    bool strong = false;
    const QStringList parts = text.split(QLatin1Char('|'));
    QString rest = text;
    rest.remove(QLatin1Char('|'));
    for (const QString& part : parts) {
        const double room = rect.right() - x;
        if (!part.isEmpty()) {
            rest.remove(0, part.size());
            if (room < kLeastRoom) {
                return x;
            }
            const QFont face = font(pixelSize, strong ? Weight::Medium : Weight::Regular);
            const QFontMetricsF metrics(face);
            const double width = metrics.horizontalAdvance(part);
            painter.setFont(face);
            painter.setPen(color(strong ? colors.strong : colors.normal, theme));
            // "VMEM 4" must not stand for "VMEM 4 of 16 MiB": the ellipsis needs its room, too.
            const bool isCut = width > room || (!rest.isEmpty() && room - width < kLeastRoom);
            const QString shown =
                isCut ? metrics.elidedText(part + QChar(0x2026), Qt::ElideRight, room) : part;
            painter.drawText(QRectF(x, rect.y(), std::max(width, room), rect.height()),
                             Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, shown);
            x += std::min(width, room);
            if (isCut) {
                return x;
            }
        }
        strong = !strong;
    }
    return x;
}

double richWidth(const QString& text, int pixelSize)
{
    double width = 0;
    bool strong = false;
    const QStringList parts = text.split(QLatin1Char('|'));
    for (const QString& part : parts) {
        const QFontMetricsF metrics(font(pixelSize, strong ? Weight::Medium : Weight::Regular));
        width += metrics.horizontalAdvance(part);
        strong = !strong;
    }
    return width;
}

void paintFrame(QPainter& painter, const QRectF& rect, Color role, Theme theme, int thickness)
{
    const double t = thickness;
    const QRectF outer = QRectF(rect.toAlignedRect()).adjusted(-t, -t, t, t);
    const QColor ink = color(role, theme);
    painter.fillRect(QRectF(outer.left(), outer.top(), outer.width(), t), ink);
    painter.fillRect(QRectF(outer.left(), outer.bottom() - t, outer.width(), t), ink);
    painter.fillRect(QRectF(outer.left(), outer.top() + t, t, outer.height() - 2 * t), ink);
    painter.fillRect(QRectF(outer.right() - t, outer.top() + t, t, outer.height() - 2 * t), ink);
}

} // namespace pallascope::views
