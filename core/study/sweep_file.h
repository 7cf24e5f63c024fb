// The rows of a sweep as text, CSV and JSON; the JSON is also what a sweep is saved in and resumed
// from.
#pragma once

#include "core/study/sweep.h"

#include <string_view>

namespace pallascope::study {

// A short text that tells contents of files apart.
class Fingerprint
{
public:
    void add(std::string_view bytes); // what follows those before
    [[nodiscard]] std::string text() const;

private:
    std::uint64_t m_hash = 0xcbf2'9ce4'8422'2325U; // FNV-1a
};

// What a file's rows are of; a sweep takes over only rows of the same.
struct SweepSubject
{
    std::string kernel;
    Parameters fixed; // parameters given beside the axes
    std::string version;
    Parameters settings;                      // of the machine
    std::map<std::string, std::string> chips; // fingerprint of each chip's file, by name
    std::string file;                         // that of the kernel's files; empty: built in
    bool operator==(const SweepSubject&) const = default;
};

[[nodiscard]] SweepSubject subjectOf(const std::string& kernel, const Parameters& fixed,
                                     const std::string& version, const machine::Settings& settings,
                                     const std::vector<chip::Chip>& chips,
                                     const std::string& fileFingerprint = {});

[[nodiscard]] std::string toText(const SweepPlan& plan, const std::vector<SweepRow>& rows);
[[nodiscard]] std::string toCsv(const SweepPlan& plan, const std::vector<SweepRow>& rows);
[[nodiscard]] std::string toJson(const SweepSubject& subject, const std::vector<SweepRow>& rows);

// The rows of such JSON that are of the subject: all, or those of chips whose files are the same.
// The error names `file`, and what is wrong or of what other kernel, parameters or version it is.
[[nodiscard]] Result<std::vector<SweepRow>>
rowsFromJson(const std::string& text, const SweepSubject& subject, const std::string& file);

} // namespace pallascope::study
