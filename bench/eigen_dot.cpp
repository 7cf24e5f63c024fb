// Compiled once per level into a module of its own: Eigen is all templates and inline functions,
// and inside one program the linker would keep one copy of each for all levels.
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
