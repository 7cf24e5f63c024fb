// The rows of a sweep in the file that keeps them: written every two seconds, and once more where
// the process ends in the midst of one long operation.
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
    // `file` empty: nothing is kept.
    KeptRows(std::string file, study::SweepSubject subject);
    KeptRows(const KeptRows&) = delete;
    KeptRows& operator=(const KeptRows&) = delete;

    // The rows that there are now, of which one is new; from one thread at a time.
    void take(const std::vector<std::optional<study::SweepRow>>& rows, std::size_t newest);

    // All that there are at the end.
    [[nodiscard]] Status save(const std::vector<study::SweepRow>& rows);

    // "Interrupted after 2 of 12 rows", and how to go on.
    [[nodiscard]] std::string interruption(std::size_t finished, std::size_t all) const;

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] std::vector<study::SweepRow> present();
    [[nodiscard]] std::string end();

    const std::string m_file;
    const study::SweepSubject m_subject;
    std::mutex m_taking, m_writing;
    std::vector<std::optional<study::SweepRow>> m_rows; // none before the first is taken
    Clock::time_point m_saved = Clock::now();
    BeforeEnding m_atTheEnd; // the last member, for it uses the others
};

} // namespace pallascope::app
