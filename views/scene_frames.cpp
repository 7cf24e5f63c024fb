#include "views/scene_frames.h"

#include "views/scene_painter.h"
#include "views/scene_pointer.h"
#include "views/to_qt.h"

#include <QPainter>

namespace pallascope::views {

using namespace layout;

const Target& SceneFrames::framedBy(const ViewState& state)
{
    static const Target none;
    return !isNothing(state.hover)                ? state.hover
           : is<target::Finding>(state.selection) ? state.selection
                                                  : none;
}

void SceneFrames::find(const RunView* run, const ViewState& state)
{
    m_partners = run != nullptr ? navigation::Partners(*run, state, framedBy(state))
                                : navigation::Partners();
}

QRegion SceneFrames::region(const Scene& scene, const Target& selection) const
{
    QRegion region;
    for (const Hit& hit : scene.hits) {
        if (m_partners.contains(hit.target) || hit.target == selection) {
            region += toQt(hit.rect).toAlignedRect().adjusted(-kSceneFrame, -kSceneFrame,
                                                              kSceneFrame, kSceneFrame);
        }
    }
    return region;
}

void SceneFrames::paint(QPainter& painter, const Scene& scene, const Target& selection,
                        Theme theme) const
{
    if (isThing(selection)) {
        for (const Rect& rect : framesOf(scene, selection)) {
            paintFrame(painter, toQt(rect), Role::Select, theme, kSceneFrame);
        }
    }
    if (m_partners.empty()) {
        return;
    }
    for (const Hit& hit : scene.hits) {
        if (m_partners.contains(hit.target)) {
            paintFrame(painter, toQt(hit.rect), Role::Text, theme, kSceneFrame);
        }
    }
}

} // namespace pallascope::views
