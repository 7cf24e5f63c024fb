#include "app/window/palette_entries.h"

#include "app/window/kernel_form.h"
#include "app/window/session.h"
#include "views/fonts.h"
#include "views/navigation/search.h"

namespace pallascope::app {
namespace {

using namespace Qt::StringLiterals;

constexpr std::size_t kMostThings =
    50; // of the run; one sees at once whether more words are needed

QString nameOf(const QAction& action)
{
    return QString(action.text()).remove(QLatin1Char('&')).remove(u"…"_s);
}

void addActions(std::vector<PaletteEntry>& entries, const std::vector<QAction*>& actions,
                const QString& words)
{
    for (QAction* action : actions) {
        const QString name = nameOf(*action);
        if (action->isEnabled() && hasWords(name, words)) {
            const QString keys = action->shortcut().toString(QKeySequence::NativeText);
            entries.push_back({keys.isEmpty() ? name : u"%1   %2"_s.arg(name, keys),
                               [action] { action->trigger(); }});
        }
    }
}

void addFields(std::vector<PaletteEntry>& entries, KernelForm& form, const layout::RunView& run,
               const QString& words)
{
    for (const layout::Field& field : run.fields) {
        const QString name = views::text(field.name);
        QWidget* widget = form.field(name);
        if (widget != nullptr && widget->isEnabled() && hasWords(name, words)) {
            entries.push_back(
                {KernelForm::tr("Change %1, now %2").arg(name, views::text(field.value)),
                 [widget] { widget->setFocus(Qt::ShortcutFocusReason); }});
        }
    }
}

void addThings(std::vector<PaletteEntry>& entries, Session& session, const layout::RunView& run,
               const QString& words)
{
    for (const navigation::Found& found : navigation::search(run, words.toStdString(), kMostThings,
                                                             session.viewpoint().state().now)) {
        entries.push_back({views::text(found.name), [&session, target = found.target] {
                               Viewpoint& viewpoint = session.viewpoint();
                               if (layout::is<layout::target::Sm>(target)
                                   || layout::is<layout::target::Time>(target)) {
                                   session.activate(target);
                                   return;
                               }
                               viewpoint.selectAndGoTo(target);
                               if (const auto* line =
                                       std::get_if<layout::target::SourceLine>(&target)) {
                                   viewpoint.showLine(*line);
                               }
                           }});
    }
}

} // namespace

std::vector<PaletteEntry> paletteEntries(const std::vector<QAction*>& actions, KernelForm& form,
                                         Session& session, const QString& words)
{
    std::vector<PaletteEntry> entries;
    addActions(entries, actions, words);
    if (const auto run = session.viewpoint().run(); run && !words.trimmed().isEmpty()) {
        addFields(entries, form, *run, words);
        addThings(entries, session, *run, words);
    }
    return entries;
}

} // namespace pallascope::app
