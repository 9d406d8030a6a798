import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// Models with random edits, opened with the policy that keeps what did not change: the rows of entities with the same hash under the
/// same name, and the links between them.
struct RandomEntityResetTests {
    @Test func rowsOfUnchangedEntitiesStay() throws {
        let seed = testSeed()
        print("seed of the resets: \(seed)")
        for number in UInt64(0)..<40 {
            var random = SeededRandom(seed: seed &+ number)
            let old = ModelDraft(using: &random)
            var new = old
            for _ in 0..<Int.random(in: 1...4, using: &random) { new.edit(using: &random, of: [old]) }
            guard new.isClear(after: old) else { continue }
            let trial = StartTrial(
                from: old, to: new, using: &random, policy: .changedEntities, "seed \(seed &+ number)")
            try trial.run { _, _, _ in }
        }
    }
}
