#include "tests/machine/parts/bare_run.h"

#include "tests/chip/chip_file.h"

#include <map>
#include <stdexcept>
#include <utility>

namespace pallascope::machine_test {

namespace {

const chip::Chip& plainChip(const std::string& name)
{
    static std::map<std::string, chip::Chip> chips; // a run refers to its chip
    if (const auto known = chips.find(name); known != chips.end()) {
        return known->second;
    }
    Result<chip::Chip> chip = chip::parse(chip::plainText(name), "plain");
    if (!chip) {
        throw std::runtime_error(chip.error().message);
    }
    return chips.emplace(name, *std::move(chip)).first->second;
}

std::shared_ptr<const machine::Prepared> preparedOf(const ir::Program& program,
                                                    const std::string& chip)
{
    auto prepared = machine::prepare(program, plainChip(chip), machine::ValueMode::Full, true);
    if (!prepared) {
        throw std::runtime_error(prepared.error().message);
    }
    return *std::move(prepared);
}

} // namespace

ir::Program bareProgram()
{
    Result<ir::Program> program = pl::kernel(
        "bare", {pl::in("x", DType::F32, {8, 128}), pl::out("out", DType::F32, {8, 128})},
        [](pl::Ref, pl::Ref) {
            pl::runScoped({pl::semaphores("counter"), {"tile", DType::F32, {8, 128}}},
                          [](const std::vector<pl::Ref>& refs) {
                              pl::semaphoreSignal(refs[0], 2);
                              pl::semaphoreWait(refs[0], 2);
                              refs[1][pl::all] = refs[1][pl::all].load() + 1.0F;
                              return std::vector<pl::Value>{};
                          });
        });
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return *std::move(program);
}

BareRun::BareRun(const machine::Settings& settings, ir::Program program, const std::string& chip)
    : m_program(std::move(program))
    , m_prepared(preparedOf(m_program, chip))
    , m_settings(settings)
    , m_recorder(m_prepared->description, machine::Keeps::Rows)
    , ending(m_state.stopped)
    , m_turn(*m_prepared, settings.uninitializedMemory, m_recorder, ending, m_state.memory)
    , m_watch(*m_prepared, m_recorder, m_turn, m_state)
    , m_context{*m_prepared, m_settings,     m_recorder,    m_turn,
                ending,      m_state.memory, m_state.races, m_state.sync.semaphores,
                true,        m_watch}
    , findings(m_context)
    , agents(m_context, m_state.agents, findings)
    , copies(m_context, m_state.copies, m_state.slotUses, findings)
    , semaphores(m_context, m_state.sync, agents, copies, findings)
    , barriers(m_context, m_state.sync, agents, copies, findings)
    , scopes(m_context, m_state.sharedScopes, copies, semaphores, barriers, findings)
    , accesses(m_context, copies, findings)
{
    agents.add();
    copies.addLinks();
}

void BareRun::deliverFirst()
{
    const machine::Signal signal = m_state.sync.signals.front();
    m_state.sync.signals.pop_front();
    semaphores.deliver(signal);
}

std::int32_t BareRun::memoryOf(std::int64_t elements)
{
    const std::int32_t index = m_state.memory.allocate(1).first;
    m_state.memory[index].contents = m_turn.undefined(DType::F32, Shape{elements});
    return index;
}

std::int32_t BareRun::memoryOf(std::int64_t elements, double number)
{
    const std::int32_t index = memoryOf(elements);
    machine::RuntimeValue value = machine::RuntimeValue::arrayOf(DType::F32, Shape{elements});
    machine::fillElements(DType::F32, value.data.get(), elements, number);
    m_state.memory[index].contents.storeAll(std::move(value));
    return index;
}

double BareRun::elementAt(std::int32_t buffer, std::int64_t element) const
{
    return m_state.memory[buffer].contents.loadElement(element).scalar;
}

bool BareRun::isDefined(std::int32_t buffer) const
{
    return m_state.memory[buffer].contents.undefinedCount() == 0;
}

void BareRun::copy(std::int32_t from, std::int32_t to, std::int64_t start, std::int64_t end,
                   std::int32_t row)
{
    machine::Flight& flight = copies.newFlight(0);
    flight.start = Picoseconds(start);
    flight.end = Picoseconds(end);
    flight.copy = trace::CopyRow{row};
    flight.source.buffer = from;
    flight.target.buffer = to;
    copies.launch(flight);
}

const machine::PlanItem& BareRun::itemOf(ir::OpCode code) const
{
    for (const machine::BlockPlan& block : m_prepared->plan.blocks) {
        for (const machine::PlanItem& item : block.items) {
            if (item.control != nullptr && item.control->code == code) {
                return item;
            }
        }
    }
    throw std::runtime_error("the plan has no such item");
}

const ir::Operation& BareRun::operation(ir::OpCode code) const
{
    const ir::Operation* found = nullptr;
    forEachOperation(m_program.body, [&](const ir::Operation& operation) {
        found = operation.code == code ? &operation : found;
    });
    if (found == nullptr) {
        throw std::runtime_error("the program has no such operation");
    }
    return *found;
}

ir::ValueId BareRun::ref(const std::string& name) const
{
    for (std::size_t i = 0; i < m_program.values.size(); ++i) {
        if (m_program.values[i].name == name) {
            return {static_cast<std::int32_t>(i)};
        }
    }
    throw std::runtime_error("the program has no such ref");
}

} // namespace pallascope::machine_test
