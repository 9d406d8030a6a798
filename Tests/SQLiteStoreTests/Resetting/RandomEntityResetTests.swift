import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// Models with random edits, opened with the policy that keeps what did not change: the rows of entities with the same hash under the
/// same name, and the links between them.
struct RandomEntityResetTests {
    @Test func everythingThatDidNotChangeStays() throws {
        let seed = testSeed()
        print("seed of the resets: \(seed)")
        for number in UInt64(0)..<40 {
            var random = SeededRandom(seed: seed &+ number)
            let old = ModelDraft(using: &random)
            var new = old
            for _ in 0..<Int.random(in: 1...4, using: &random) { new.edit(using: &random, of: [old]) }
            try expectRest(old, new, "seed \(seed &+ number)")
        }
    }

    private func expectRest(_ old: ModelDraft, _ new: ModelDraft, _ moment: String) throws {
        let (oldModel, newModel) = (old.model, new.model)
        let unchanged = Set(oldModel.entityHashes.filter { newModel.entityHashes[$0.key] == $0.value }.keys)
        let store = try FilledStore(oldModel)
        let before = try TableContents(store.folder).tables
        let startup = try migrate(store.folder, newModel, .changedEntities).startup
        let after = try TableContents(store.folder).tables
        guard oldModel.hash != newModel.hash, !unchanged.isEmpty else { return }
        #expect(startup.fallback == nil, "\(moment): \(startup.fallback ?? "")")
        var names: [String: String] = [:]
        for entity in old.entities { for key in (before[entity.name] ?? [:]).keys { names[key] = entity.name } }
        func stays(_ key: String) -> Bool { names[key].map(unchanged.contains) ?? false }

        var dropped = StoreStartup.Dropped()
        for entity in old.entities where !unchanged.contains(entity.name) {
            let count = before[entity.name]?.count ?? 0
            if count > 0 { dropped.objects[entity.name] = count }
        }
        for entity in new.entities {
            guard unchanged.contains(entity.name), let rows = before[entity.name] else {
                #expect((after[entity.name] ?? [:]).isEmpty, "\(moment): \(entity.name)")
                continue
            }
            #expect(after[entity.name].map { Set($0.keys) } == Set(rows.keys), "\(moment): \(entity.name)")
            for (key, row) in rows {
                let newRow = after[entity.name]?[key] ?? [:]
                for attribute in new.lineage(entity).flatMap(\.attributes) {
                    #expect(
                        newRow[attribute.name] == row[attribute.name], "\(moment): \(entity.name).\(attribute.name)")
                }
                for owner in new.lineage(entity) {
                    for link in owner.links where !link.isToMany {
                        let end = row[link.name] ?? "NULL"
                        #expect(
                            newRow[link.name] == (stays(end) ? end : "NULL"), "\(moment): \(entity.name).\(link.name)")
                        if end != "NULL", !stays(end) { dropped.links["\(owner.name).\(link.name)", default: 0] += 1 }
                        guard stays(end), let number = newRow["\(link.name).entity"].flatMap({ Int($0) }) else {
                            continue
                        }
                        #expect(newModel.entities[number].name == names[end], "\(moment): \(entity.name).\(link.name)")
                    }
                }
            }
        }
        for owner in new.entities {
            for link in owner.links where link.isToMany {
                let table = "_\(owner.name)_\(link.name)"
                let kept = (before[table] ?? [:]).keys.filter {
                    $0.split(separator: " ").allSatisfy { stays(String($0)) }
                }
                #expect(Set((after[table] ?? [:]).keys) == Set(kept), "\(moment): \(owner.name).\(link.name)")
            }
        }
        for owner in old.entities {
            for link in owner.links where link.isToMany {
                let count = (before["_\(owner.name)_\(link.name)"] ?? [:]).keys.count {
                    Set($0.split(separator: " ").map { stays(String($0)) }).count == 2
                }
                if count > 0 { dropped.links["\(owner.name).\(link.name)"] = count }
            }
        }
        #expect(startup.dropped == dropped, "\(moment)")
    }
}
