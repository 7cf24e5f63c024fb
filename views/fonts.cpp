#include "views/fonts.h"

#include "core/base/check.h"

#include <QCoreApplication>
#include <QFontDatabase>
#include <QPointer>
#include <QStringList>

#include <array>

// The macro declares a function in the global namespace, so it cannot stand in ours. It is needed
// because the linker drops the resources of a static library that nothing refers to.
static void initialiseResources()
{
    Q_INIT_RESOURCE(resources);
}

namespace pallascope::views {
namespace {

using layout::Weight;
using namespace Qt::StringLiterals;

constexpr std::size_t kWeights = 5;

std::array<QString, kWeights> loadFamilies()
{
    initialiseResources();
    const std::array<QString, kWeights> files = {
        u"PallascopeSans-Regular.otf"_s, u"PallascopeSans-Medium.otf"_s,
        u"PallascopeSans-SemiBold.otf"_s, u"JetBrainsMono-Regular.ttf"_s,
        u"JetBrainsMono-Bold.ttf"_s};
    std::array<QString, kWeights> families;
    for (std::size_t i = 0; i < kWeights; ++i) {
        const int id = QFontDatabase::addApplicationFont(u":/fonts/"_s + files[i]);
        const QStringList names = QFontDatabase::applicationFontFamilies(id);
        PALLASCOPE_CHECK(!names.isEmpty());
        families[i] = names.first();
    }
    return families;
}

QFont::Weight qtWeight(Weight weight)
{
    switch (weight) {
    case Weight::Regular:
    case Weight::Mono:
        return QFont::Normal;
    case Weight::Medium:
        return QFont::Medium;
    case Weight::SemiBold:
        return QFont::DemiBold;
    case Weight::MonoBold:
        return QFont::Bold;
    }
    return QFont::Normal;
}

} // namespace

QFont font(int pixelSize, Weight weight)
{
    static std::array<QString, kWeights> families;
    static QPointer<QCoreApplication> loadedFor; // the fonts of an application go with it
    if (loadedFor != QCoreApplication::instance()) {
        loadedFor = QCoreApplication::instance();
        families = loadFamilies();
    }
    QFont result(families[static_cast<std::size_t>(weight)]);
    result.setPixelSize(pixelSize);
    result.setWeight(qtWeight(weight));
    result.setHintingPreference(QFont::PreferVerticalHinting);
    result.setStyleStrategy(QFont::NoSubpixelAntialias);
    return result;
}

QString text(std::string_view utf8)
{
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

} // namespace pallascope::views
