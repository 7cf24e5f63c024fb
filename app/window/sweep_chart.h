// The picture of a sweep in its dialog: a click or an arrow key chooses a row, a double click or
// Enter opens it.
#pragma once

#include "views/layout/sweep/sweep.h"
#include "views/scene_view.h"

#include <memory>
#include <optional>

namespace pallascope::app {

class SweepChart : public views::SceneView
{
    Q_OBJECT

public:
    explicit SweepChart(QWidget* parent = nullptr);

    void show(layout::SweepPicture picture);
    void clear(); // says how there will be a picture
    void choose(std::optional<std::size_t> row);

    // The row that is marked as the fastest.
    [[nodiscard]] std::optional<std::size_t> fastest() const;

Q_SIGNALS:
    void rowChosen(std::size_t row);
    void rowOpened();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void report(const layout::Target& target);

    std::shared_ptr<const layout::SweepPicture> m_picture;
};

} // namespace pallascope::app
