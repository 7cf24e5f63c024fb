// The rows of a sweep as text, CSV and JSON. A sweep is saved as this JSON and resumed from it.
#pragma once

#include "core/study/sweep.h"

#include <set>
#include <string_view>

namespace pallascope::study {

// A short text that distinguishes contents of files.
class Fingerprint
{
public:
    void add(std::string_view bytes); // continues with these bytes
    [[nodiscard]] std::string text() const;

private:
    std::uint64_t m_hash = 0xcbf2'9ce4'8422'2325U; // FNV-1a
};

// What the rows of a file belong to. A sweep takes over only rows with the same subject.
struct SweepSubject
{
    std::string kernel;
    Parameters fixed; // parameters given in addition to the axes
    std::string version;
    Parameters settings;                      // of the machine
    std::map<std::string, std::string> chips; // for each chip's name the fingerprint of its file
    std::string file; // fingerprint of the kernel's files; empty if built in
    bool operator==(const SweepSubject&) const = default;
};

[[nodiscard]] SweepSubject subjectOf(const std::string& kernel, const Parameters& fixed,
                                     const std::string& version, const machine::Settings& settings,
                                     const std::vector<chip::Chip>& chips,
                                     const std::string& fileFingerprint = {});

// The columns of a table of rows for people: the axes, the chip and what was found.
[[nodiscard]] std::vector<std::string> tableHead(const SweepPlan& plan);
[[nodiscard]] std::vector<std::string> tableCells(const SweepPlan& plan, const SweepRow& row);
[[nodiscard]] std::string toText(const SweepPlan& plan, const std::vector<SweepRow>& rows);
[[nodiscard]] std::string toCsv(const SweepPlan& plan, const std::vector<SweepRow>& rows);
[[nodiscard]] std::string toJson(const SweepSubject& subject, const std::vector<SweepRow>& rows);

struct SavedRows
{
    std::vector<SweepRow> rows;
    // Of all chips that the file has rows of: its fingerprint there.
    std::map<std::string, std::string> chips;
    // Chips whose files have changed since. Their rows are left out.
    std::set<std::string> changed;
};

// The rows of such JSON. Rows of chips that the subject does not have are among them. The error
// names `file`, and what is wrong with it or which other kernel, parameters or version it belongs
// to.
[[nodiscard]] Result<SavedRows> rowsFromJson(const std::string& text, const SweepSubject& subject,
                                             const std::string& file);

} // namespace pallascope::study
