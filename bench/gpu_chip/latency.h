// What the parts of the group latency share: a list of cycles that a kernel writes.
#pragma once

#include "host.h"

constexpr int kTries = 64;

class Probe
{
public:
    Probe()
        : m_out(1024)
    {}

    // launch starts the kernels that write n values to a list; the first ones are left out, since
    // they fetch instructions and the like.
    template<typename L>
    void one(const std::string& name, const std::string& parameters, L launch, int n = kTries,
             int skip = 4, const char* unit = "cycles")
    {
        guarded("latency " + name + " " + parameters, [&] {
            launch(m_out.get());
            finish();
            const std::vector<long long> all = m_out.read(n);
            const Values v(all.begin() + skip, all.end());
            emit("latency", name, parameters, v, unit);
            // Near and far halves of L2 are two humps, which a median does not show.
            if (n > kTries)
                for (double q : {0.05, 0.25, 0.75, 0.95})
                    emit("latency", name + text("_p%g", 100 * q), parameters, {quantile(v, q)},
                         unit);
        });
    }

private:
    Buffer<long long> m_out;
};
