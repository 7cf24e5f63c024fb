#include "app/cli/kept_rows.h"

#include "core/base/whole_file.h"

#include <fmt/format.h>

namespace pallascope::app {

namespace {

study::SweepSubject withChips(study::SweepSubject subject,
                              const std::map<std::string, std::string>& more)
{
    subject.chips.insert(more.begin(), more.end());
    return subject;
}

} // namespace

KeptRows::KeptRows(std::string file, study::SweepSubject subject, study::SavedRows others)
    : m_file(std::move(file))
    , m_subject(withChips(std::move(subject), others.chips))
    , m_others(std::move(others.rows))
    , m_atTheEnd([this] { return end(); })
{}

void KeptRows::take(const std::vector<std::optional<study::SweepRow>>& rows, std::size_t newest)
{
    {
        const std::lock_guard lock(m_taking);
        if (m_rows.empty()) {
            m_rows = rows;
        } else {
            m_rows[newest] = rows[newest];
        }
    }
    if (Clock::now() - m_saved > std::chrono::seconds(2)) {
        (void)save(present()); // if this fails, so does the last save, and that one is reported
        m_saved = Clock::now();
    }
}

std::vector<study::SweepRow> KeptRows::present()
{
    const std::lock_guard lock(m_taking);
    std::vector<study::SweepRow> result;
    for (const std::optional<study::SweepRow>& row : m_rows) {
        if (row) {
            result.push_back(*row);
        }
    }
    return result;
}

Status KeptRows::save(std::vector<study::SweepRow> rows)
{
    rows.insert(rows.end(), m_others.begin(), m_others.end());
    const std::lock_guard lock(m_writing);
    return m_file.empty() ? Status(Done{}) : writeFile(m_file, toJson(m_subject, rows));
}

std::string KeptRows::end()
{
    const std::vector<study::SweepRow> rows = present();
    if (rows.empty()) { // keeps what an earlier sweep has left in the file
        return "Interrupted.";
    }
    (void)save(rows); // the process ends even if this fails
    return interruption(rows.size(), m_rows.size());
}

std::string KeptRows::interruption(std::size_t finished, std::size_t all) const
{
    return fmt::format("Interrupted after {} of {} rows{}.", finished, all,
                       m_file.empty() ? "; --save FILE would keep them"
                                      : "; --resume " + m_file + " goes on from there");
}

} // namespace pallascope::app
