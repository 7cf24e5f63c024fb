// The frames over a scene: round the selection, and round what is pointed at and its partners.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/navigation/partners.h"

#include <QRegion>

class QPainter;

namespace pallascope::views {

inline constexpr int kSceneFrame = 2; // px

class SceneFrames
{
public:
    // What has its partners framed: what is pointed at or else a finding that was gone to, because
    // its two places lie in several views.
    [[nodiscard]] static const layout::Target& framedBy(const layout::ViewState& state);

    // Asks who the partners are. Without a run there are none.
    void find(const layout::RunView* run, const layout::ViewState& state);

    void forget() { m_partners = {}; }

    [[nodiscard]] bool hasPartners() const { return !m_partners.empty(); }

    [[nodiscard]] QRegion region(const layout::Scene& scene, const layout::Target& selection) const;
    void paint(QPainter& painter, const layout::Scene& scene, const layout::Target& selection,
               layout::Theme theme) const;

private:
    navigation::Partners m_partners;
};

} // namespace pallascope::views
