// Tests loads and stores through a ref, without an engine.
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

using ir::OpCode;

TEST(Accesses, aLoadGivesWhatIsThereAndWhatOfItIsDefined)
{
    BareRun run;
    machine::Owned owned;
    run.scopes.allocate({run.ref("tile")}, owned);
    const ir::Operation& get = run.operation(OpCode::Get);
    run.accesses.access({.operation = &get}, false);
    EXPECT_TRUE(run.turn().value(get.results[0]).shadow.none());

    machine::RuntimeValue ones = machine::RuntimeValue::arrayOf(DType::F32, {8, 128});
    machine::fillElements(DType::F32, ones.data.get(), ones.elements(), 1);
    run.copies.put(run.turn().binding(run.ref("tile")), ones);
    run.accesses.access({.operation = &get}, false);
    const machine::RuntimeValue& loaded = run.turn().value(get.results[0]);
    EXPECT_TRUE(loaded.shadow.all());
    EXPECT_EQ(loaded.as<float>()[8 * 128 - 1], 1);
}

TEST(Accesses, aStoreOfSomethingUndefinedIsRemembered)
{
    BareRun run;
    machine::Owned owned;
    run.scopes.allocate({run.ref("tile")}, owned);
    const std::int32_t tile = owned.buffers.at(0).second.first;
    const ir::Operation& swap = run.operation(OpCode::Swap);
    machine::RuntimeValue& stored = run.turn().value(swap.operands[1]);
    stored = machine::RuntimeValue::zeros(DType::F32, {8, 128});
    run.accesses.access({.operation = &swap}, false);
    EXPECT_TRUE(run.isDefined(tile));
    EXPECT_FALSE(run.memoryAt(tile).undefinedBy);
    stored.shadow = machine::Shadow::noneDefined();
    run.accesses.access({.operation = &swap}, false);
    EXPECT_FALSE(run.isDefined(tile));
    EXPECT_EQ(run.memoryAt(tile).undefinedBy, swap.location);
}

TEST(Accesses, oneThatIsOnlyTimedIsNotedAsAStore)
{
    BareRun run;
    machine::Owned owned;
    run.scopes.allocate({run.ref("tile")}, owned);
    const std::int32_t tile = owned.buffers.at(0).second.first;
    run.accesses.note({.operation = &run.operation(OpCode::Get), .ref = run.ref("tile")});
    EXPECT_EQ(run.memoryAt(tile).holds, machine::Memory::Holds::Nothing);
    run.accesses.note(
        {.operation = &run.operation(OpCode::Swap), .ref = run.ref("tile"), .writes = true});
    EXPECT_EQ(run.memoryAt(tile).holds, machine::Memory::Holds::Current);
}

} // namespace pallascope::machine_test
