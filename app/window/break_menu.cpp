#include "app/window/break_menu.h"

#include "core/base/format.h"
#include "views/fonts.h"
#include "views/navigation/break_targets.h"

namespace pallascope::app {

QMenu* makeBreakMenu(Session& session, const layout::Target& target,
                     const std::optional<Picoseconds>& time, QWidget* parent)
{
    auto* menu = new QMenu(parent);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const trace::Trace& trace = *session.viewpoint().run()->trace;
    const Picoseconds now = session.viewpoint().state().now;
    const auto to = time ? time : navigation::timeToRunTo(trace, target, now);
    QAction* run = menu->addAction(to ? QMenu::tr("Run to here, %1").arg(views::text(timeText(*to)))
                                      : QMenu::tr("Run to here"),
                                   &session, [&session, to] { session.viewpoint().jumpTo(*to); });
    run->setEnabled(to.has_value());
    const auto breakpoint = navigation::breakpointOf(trace, target, now);
    if (!breakpoint) {
        menu->addAction(QMenu::tr("Break here"))->setEnabled(false);
        return menu;
    }
    const bool isThere = session.breakpoints().find(*breakpoint).has_value();
    const QString name = views::text(trace::textOf(*breakpoint));
    menu->addAction(
        (isThere ? QMenu::tr("Remove %1") : QMenu::tr("Break at %1")).arg(name), &session,
        [&session, breakpoint = *breakpoint] { session.breakpoints().toggle(breakpoint); });
    return menu;
}

} // namespace pallascope::app
