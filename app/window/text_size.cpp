#include "app/window/text_size.h"

#include <QByteArray>
#include <QtGlobal>

#include <algorithm>

namespace pallascope::app {

namespace {

constexpr auto kScale = "QT_SCALE_FACTOR"; // Qt reads it when an application is made
int theTextSize = kUsualTextSize;

} // namespace

int nextTextSize(int percent, int direction)
{
    const auto* const next = direction > 0
                                 ? std::find_if(kTextSizes.begin(), kTextSizes.end(),
                                                [&](int size) { return size > percent; })
                                 : std::find_if(kTextSizes.begin(), kTextSizes.end(),
                                                [&](int size) { return size >= percent; });
    if (direction > 0) {
        return next == kTextSizes.end() ? percent : *next;
    }
    return next == kTextSizes.begin() ? percent : *(next - 1);
}

void scaleApplication(int percent)
{
    static const QByteArray kOfUser = qgetenv(kScale);
    theTextSize = percent;
    if (kOfUser.isEmpty() && percent == kUsualTextSize) {
        qunsetenv(kScale);
        return;
    }
    const double own = kOfUser.isEmpty() ? 1 : kOfUser.toDouble();
    qputenv(kScale, QByteArray::number(std::max(1.0, own * percent / kUsualTextSize)));
}

int textSize()
{
    return theTextSize;
}

} // namespace pallascope::app
