// Lets screen readers walk the things of a picture: its blocks, lanes, copies, steps and findings
// are children of the view, in reading order, named by what their tooltips say.
#pragma once

namespace pallascope::views {

// For the whole application; once is enough.
void makeScenesAccessible();

} // namespace pallascope::views
