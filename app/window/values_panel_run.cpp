// Which refs the Values dock offers for a run, and what of it is not known.
#include "app/window/values_panel.h"
#include "core/base/format.h"
#include "views/fonts.h"

#include <QAbstractItemView>

#include <algorithm>
#include <utility>

namespace pallascope::app {

using namespace layout;
using namespace Qt::StringLiterals;
using views::text;

namespace {

// What computing all values takes: the operations of the kernel, done on this machine, and its
// arrays.
std::string costOfAll(const std::vector<ValuesRef>& refs, const RunView& run)
{
    Bytes arrays;
    for (const ValuesRef& each : refs) {
        const bool isArray = each.memory == "HBM" || each.memory == "ANY";
        arrays += isArray ? packedBytes(each.dtype, each.shape.elements()) : Bytes();
    }
    constexpr double kGiga = 1e9;
    const double flops = static_cast<double>(run.report.flops.value());
    return (flops >= kGiga ? significant(flops / kGiga, 3) + " GFLOP" : "less than 1 GFLOP")
           + " and " + bytesText(arrays) + " of arrays";
}

void fill(ChoiceField& field, const std::vector<ValuesRef>& refs)
{
    field.clear();
    const bool someKnown =
        std::any_of(refs.begin(), refs.end(), [](const ValuesRef& ref) { return ref.isKnown; });
    for (const ValuesRef& ref : refs) {
        const auto alike = std::count_if(refs.begin(), refs.end(), [&](const ValuesRef& one) {
            return one.name == ref.name && one.memory == ref.memory;
        });
        std::string item = ref.name + " · " + ref.memory;
        if (alike > 1) {
            item += " " + std::string(dtypeName(ref.dtype)) + toString(ref.shape);
        }
        field.addItem(text(item + (ref.isKnown || !someKnown ? "" : " · not known")));
    }
    field.view()->setMinimumWidth(field.sizeHint().width());
}

// The row of what the run writes, which is looked at most; else the first.
int rowOfResult(const std::vector<ValuesRef>& refs, const trace::Info& info)
{
    const auto first = std::find_if(refs.begin(), refs.end(), [&](const ValuesRef& ref) {
        if (ref.operand < 0 || ref.isBlock) {
            return false;
        }
        const trace::Operand& operand = info.operands[static_cast<std::size_t>(ref.operand)];
        return operand.direction == trace::Direction::Out && !operand.isAround;
    });
    return first == refs.end() ? 0 : static_cast<int>(first - refs.begin());
}

} // namespace

void ValuesPanel::followRun()
{
    m_opened.reset();
    m_goesOn.reset();
    forgetRefs();
    m_failure.clear();
    m_known.clear();
    m_colours->forgetRange();
    m_teller.stop();
    m_teller.forget();
    m_jobs.close(keptRun());
    m_picture->show(nullptr, m_colours->scale(), {});
    openIfSeen();
}

// The fields offer nothing of a run that is gone: keys come before the refs of the next one.
void ValuesPanel::forgetRefs()
{
    m_refs.clear();
    m_ref->clear();
    m_axes->setShape(Shape());
}

// With which the values of the present one can be compared; null: none.
ValuesJobs::Run ValuesPanel::keptRun() const
{
    const auto& kept = m_session.viewpoint().state().kept;
    return kept != nullptr && kept->isOfKernel ? kept->run : nullptr;
}

// A replay takes time and memory, so nothing is replayed before somebody looks.
void ValuesPanel::openIfSeen()
{
    const auto& run = m_session.viewpoint().run();
    if (!isVisible() || !run || run == m_opened) {
        return;
    }
    m_opened = run;
    const auto& shown = m_session.runs().shown();
    if (!run->notRun.empty() || !shown || shown->view != run) {
        fail("Nothing ran, so there are no values.");
        return;
    }
    m_jobs.open(shown->request, run, shown->walls.empty(), keptRun());
    m_awaitedDelay.start();
}

void ValuesPanel::takeRefs(std::vector<ValuesRef> refs, const std::string& note)
{
    m_refs = std::move(refs);
    m_known = note;
    fill(*m_ref, m_refs);
    m_axes->setAgents(m_opened->trace->info().agents);
    m_axes->setDevice(device());
    showNote();
    if (m_refs.empty()) {
        fail("This program has no refs that hold values.");
        return;
    }
    if (const auto before = std::exchange(m_goesOn, std::nullopt)) {
        goOn(*before);
        return;
    }
    if (!choose(m_wanted, m_wantedMemory)) {
        chooseRef(rowOfResult(m_refs, m_opened->trace->info()));
        m_wanted.clear(); // nobody has asked for it
    }
    followSelection();
}

ValuesPanel::State ValuesPanel::state() const
{
    if (m_goesOn) {
        return *m_goesOn; // nobody has looked since
    }
    State state{.minus = m_minus,
                .wanted = m_wanted,
                .wantedMemory = m_wantedMemory,
                .agent = m_axes->agent(),
                .choice = m_choice,
                .colours = m_colours->state()};
    if (ref() != nullptr) {
        state.ref = static_cast<std::size_t>(m_ref->currentIndex());
    }
    return state;
}

void ValuesPanel::goOn(const State& state)
{
    m_wanted = state.wanted;
    m_wantedMemory = state.wantedMemory;
    m_colours->goOn(state.colours);
    if (!state.ref) {
        return;
    }
    if (m_refs.empty()) {
        m_goesOn = state;
        return;
    }
    chooseRef(static_cast<int>(*state.ref));
    m_wanted = state.wanted;
    m_wantedMemory = state.wantedMemory;
    m_minus = state.minus;
    m_choice = state.choice;
    m_colours->goOn(state.colours);
    m_axes->setAgent(state.agent);
    if (m_choice.element) {
        m_axes->setIndex(*m_choice.element);
    }
    setSide(m_choice.side, m_choice.corner);
}

// A block that is selected in any view is looked at in its array, a slot as the ref that bodies
// have of it.
void ValuesPanel::followSelection()
{
    const layout::Target& selection = m_session.viewpoint().state().selection;
    const auto* block = std::get_if<target::Block>(&selection);
    const auto* slot = std::get_if<target::Buffer>(&selection);
    if (m_refs.empty() || (block == nullptr && slot == nullptr)) {
        return;
    }
    const trace::Info& info = m_opened->trace->info();
    const std::vector<std::int32_t>& arrays = m_opened->index->arrays().ofOperand;
    const auto row = [](std::int64_t number) { return static_cast<std::size_t>(number); };
    const std::int64_t operand =
        block != nullptr ? block->operand : info.buffers[row(slot->buffer)].operand;
    const auto found = std::find_if(m_refs.begin(), m_refs.end(), [&](const ValuesRef& ref) {
        if (operand < 0) {
            return ref.name == info.buffers[row(slot->buffer)].name;
        }
        return ref.operand >= 0 && ref.isBlock == (slot != nullptr)
               && arrays[row(ref.operand)] == arrays[row(operand)];
    });
    if (found == m_refs.end()) {
        return;
    }
    chooseRef(static_cast<int>(found - m_refs.begin()));
    const trace::Operand* cut = block == nullptr ? nullptr : &info.operands[row(operand)];
    if (cut == nullptr || found->block.rank() == 0 || found->shape != cut->array) {
        return;
    }
    std::vector<std::int64_t> first = indexOf(Shape(Extents(cut->blockCounts)), block->block);
    for (std::size_t axis = 0; axis < first.size(); ++axis) {
        first[axis] *= cut->block[axis];
    }
    chooseElement(first);
}

bool ValuesPanel::choose(const std::string& name, const std::string& memory)
{
    const auto found = std::find_if(m_refs.begin(), m_refs.end(), [&](const ValuesRef& ref) {
        return ref.name == name && (memory.empty() || ref.memory == memory);
    });
    if (found == m_refs.end()) {
        return false;
    }
    chooseRef(static_cast<int>(found - m_refs.begin()));
    return true;
}

const ValuesRef* ValuesPanel::ref() const
{
    const int index = m_ref->currentIndex();
    return index < 0 || index >= static_cast<int>(m_refs.size())
               ? nullptr
               : &m_refs[static_cast<std::size_t>(index)];
}

void ValuesPanel::chooseRef(int index)
{
    m_ref->setCurrentIndex(index);
    m_wanted = ref()->name;
    m_wantedMemory = ref()->memory;
    m_choice.element.reset();
    m_choice.corner.reset();
    m_minus.reset();
    m_colours->forgetRange();
    m_axes->setShape(ref()->shape);
    showNote();
    ask();
}

void ValuesPanel::chooseAxis(std::size_t axis, std::int64_t number)
{
    // A field that goes away hands over its number, which may come too late.
    if (ref() == nullptr || axis >= ref()->shape.rank()) {
        return;
    }
    const Shape& shape = ref()->shape;
    auto index = m_choice.element.value_or(std::vector<std::int64_t>(shape.rank(), 0));
    index[axis] = std::clamp<std::int64_t>(number, 0, shape[axis] - 1);
    chooseElement(index);
}

void ValuesPanel::showNote()
{
    const auto& shown = m_session.runs().shown();
    const bool isPartly = shown && !shown->request.fullValues && m_failure.empty();
    QString note = text(m_known);
    if (isPartly) {
        note += (note.isEmpty() ? u""_s : u" "_s)
                + tr("All of them take %1.").arg(text(costOfAll(m_refs, *m_opened)));
    }
    m_note->say(m_failure.empty() ? note : QString(), isPartly);
}

} // namespace pallascope::app
