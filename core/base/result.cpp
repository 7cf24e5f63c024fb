#include "core/base/result.h"

#include <algorithm>

namespace pallascope {

bool Error::isAbout(Subject subject) const
{
    return std::any_of(about.begin(), about.end(),
                       [subject](const About& thing) { return thing.subject == subject; });
}

Error userError(std::string_view message, std::vector<About> about)
{
    return {ErrorKind::User, oneLine(message), std::move(about)};
}

Error limitError(std::string_view message, std::vector<About> about)
{
    return {ErrorKind::Limit, oneLine(message), std::move(about)};
}

Error cancelled()
{
    return {ErrorKind::Cancelled, "Cancelled.", {}};
}

Error reworded(Error error, std::string_view message)
{
    error.message = oneLine(message);
    return error;
}

Error aboutFile(Error error, const std::string& path)
{
    if (error.kind != ErrorKind::Cancelled && !error.isAbout(Subject::File)) {
        error.about.push_back({Subject::File, path});
    }
    return error;
}

} // namespace pallascope
