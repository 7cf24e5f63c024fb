#include "views/scene_accessible.h"

#include "views/scene_pointer.h"
#include "views/scene_view.h"
#include "views/to_qt.h"

#include <QAccessibleWidget>

#include <algorithm>
#include <utility>
#include <vector>

namespace pallascope::views {
namespace {

using layout::Hit;

// The thing of a view with a number, which may be another one after the picture has changed.
class ThingAccessible : public QAccessibleInterface, public QAccessibleActionInterface
{
public:
    ThingAccessible(SceneView* view, int number)
        : m_view(view)
        , m_number(number)
    {}

    [[nodiscard]] bool isValid() const override { return hit() != nullptr; }

    [[nodiscard]] QObject* object() const override { return nullptr; }

    [[nodiscard]] QAccessibleInterface* parent() const override
    {
        return QAccessible::queryAccessibleInterface(m_view);
    }

    [[nodiscard]] QAccessibleInterface* child(int /*index*/) const override { return nullptr; }

    [[nodiscard]] QAccessibleInterface* childAt(int /*x*/, int /*y*/) const override
    {
        return nullptr;
    }

    [[nodiscard]] int childCount() const override { return 0; }

    [[nodiscard]] int indexOfChild(const QAccessibleInterface* /*child*/) const override
    {
        return -1;
    }

    // The first line of the tooltip is the name, the others describe.
    [[nodiscard]] QString text(QAccessible::Text kind) const override
    {
        const Hit* thing = hit();
        if (thing == nullptr) {
            return {};
        }
        QStringList lines = m_view->tipLines(thing->target);
        if (lines.isEmpty()) {
            return {};
        }
        const QString name = lines.takeFirst();
        return kind == QAccessible::Name          ? name
               : kind == QAccessible::Description ? lines.join(QStringLiteral(", "))
                                                  : QString();
    }

    void setText(QAccessible::Text /*kind*/, const QString& /*text*/) override {}

    [[nodiscard]] QRect rect() const override
    {
        const Hit* thing = hit();
        if (thing == nullptr) {
            return {};
        }
        const QRect rect = toQt(thing->rect).toAlignedRect();
        return {m_view->mapToGlobal(rect.topLeft()), rect.size()};
    }

    [[nodiscard]] QAccessible::Role role() const override { return QAccessible::ListItem; }

    [[nodiscard]] QAccessible::State state() const override
    {
        QAccessible::State state;
        const Hit* thing = hit();
        state.invalid = thing == nullptr;
        state.selectable = true;
        state.selected = thing != nullptr && thing->target == m_view->state().selection;
        return state;
    }

    void* interface_cast(QAccessible::InterfaceType type) override
    {
        return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this)
                                                    : nullptr;
    }

    [[nodiscard]] QStringList actionNames() const override { return {pressAction()}; }

    void doAction(const QString& name) override
    {
        const Hit* thing = hit();
        if (name == pressAction() && thing != nullptr) {
            m_view->press(layout::Target(thing->target)); // a copy: the press may change the scene
        }
    }

    [[nodiscard]] QStringList keyBindingsForAction(const QString& /*name*/) const override
    {
        return {};
    }

private:
    [[nodiscard]] const Hit* hit() const
    {
        const std::vector<Hit>& things = m_view->things();
        return std::cmp_less(m_number, things.size()) ? &things[static_cast<std::size_t>(m_number)]
                                                      : nullptr;
    }

    SceneView* m_view;
    int m_number;
};

class SceneAccessible : public QAccessibleWidget
{
public:
    explicit SceneAccessible(SceneView* view)
        : QAccessibleWidget(view, QAccessible::List)
        , m_view(view)
    {}

    SceneAccessible(const SceneAccessible&) = delete;
    SceneAccessible& operator=(const SceneAccessible&) = delete;

    ~SceneAccessible() override
    {
        for (const QAccessible::Id id : m_children) {
            QAccessible::deleteAccessibleInterface(id);
        }
    }

    [[nodiscard]] int childCount() const override
    {
        return static_cast<int>(m_view->things().size());
    }

    [[nodiscard]] QAccessibleInterface* child(int index) const override
    {
        if (index < 0 || index >= childCount()) {
            return nullptr;
        }
        while (std::cmp_less_equal(m_children.size(), index)) {
            m_children.push_back(QAccessible::registerAccessibleInterface(
                new ThingAccessible(m_view, static_cast<int>(m_children.size()))));
        }
        return QAccessible::accessibleInterface(m_children[static_cast<std::size_t>(index)]);
    }

    [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override
    {
        for (std::size_t i = 0; i < m_children.size(); ++i) {
            if (QAccessible::accessibleInterface(m_children[i]) == child) {
                return static_cast<int>(i);
            }
        }
        return -1;
    }

    // The one on top.
    [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override
    {
        const QPointF point = m_view->mapFromGlobal(QPointF(x, y));
        const layout::Target target = layout::hitTest(m_view->scene(), point.x(), point.y());
        const std::vector<Hit>& things = m_view->things();
        const auto found = std::find_if(things.begin(), things.end(),
                                        [&](const Hit& one) { return one.target == target; });
        return found == things.end() ? nullptr : child(static_cast<int>(found - things.begin()));
    }

private:
    SceneView* m_view;
    mutable std::vector<QAccessible::Id> m_children; // made when they are asked for
};

QAccessibleInterface* accessibleOf(const QString& /*className*/, QObject* object)
{
    auto* view = qobject_cast<SceneView*>(object);
    return view == nullptr ? nullptr : new SceneAccessible(view);
}

} // namespace

void makeScenesAccessible()
{
    QAccessible::installFactory(accessibleOf);
}

} // namespace pallascope::views
