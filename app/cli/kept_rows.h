// Keeps the rows of a sweep in a file, so that a sweep that is interrupted can go on later. It
// writes every two seconds, and once more if the process ends during one long operation.
#pragma once

#include "app/process/interrupts.h"
#include "core/study/sweep_file.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

class KeptRows
{
public:
    // If `file` is empty, nothing is kept. `others` are rows that are not of this sweep and stay in
    // the file, behind its rows.
    KeptRows(std::string file, study::SweepSubject subject, study::SavedRows others);
    KeptRows(const KeptRows&) = delete;
    KeptRows& operator=(const KeptRows&) = delete;

    // Takes the rows that there are now; the one at `newest` is new. Only one thread at a time may
    // call this.
    void take(const std::vector<std::optional<study::SweepRow>>& rows, std::size_t newest);

    // Writes all rows at the end of the sweep, and the others.
    [[nodiscard]] Status save(std::vector<study::SweepRow> rows);

    // "Interrupted after 2 of 12 rows", and how to go on from there.
    [[nodiscard]] std::string interruption(std::size_t finished, std::size_t all) const;

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] std::vector<study::SweepRow> present();
    [[nodiscard]] std::string end();

    const std::string m_file;
    const study::SweepSubject m_subject; // with the chips of all rows
    const std::vector<study::SweepRow> m_others;
    std::mutex m_taking, m_writing;
    std::vector<std::optional<study::SweepRow>> m_rows; // empty before the first row is taken
    Clock::time_point m_saved = Clock::now();
    // Declared last, because it uses the other members until it is destroyed.
    BeforeEnding m_atTheEnd;
};

} // namespace pallascope::app
