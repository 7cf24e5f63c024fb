// Compiled once for each level of instructions, each time into a module of its own. Eigen consists
// of templates and inline functions, and in one program the linker would keep a single copy of each
// for all levels.
#include <Eigen/Core>

#include <cstdint>

extern "C" __attribute__((visibility("default"))) void eigenProduct(const float* a, const float* b,
                                                                    float* out, std::int64_t n,
                                                                    std::int64_t begin,
                                                                    std::int64_t end)
{
    const Eigen::Map<const Eigen::MatrixXf> left(a, n, n);
    const Eigen::Map<const Eigen::MatrixXf> right(b + begin * n, n, end - begin);
    Eigen::Map<Eigen::MatrixXf>(out + begin * n, n, end - begin).noalias() = left * right;
}
