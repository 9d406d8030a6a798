import Foundation
import ManagedModel
import ModelMigration
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// Models with random edits over several versions, opened with every policy and with keys of data sources: each value is where it has
/// to be.
///
/// `COREDATASOURCE_MIGRATIONS` says how many sequences of models, and `COREDATASOURCE_SEED` repeats a run.
struct RandomMigrationTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test func randomMigrationsKeepEveryValue() throws {
        let seed = testSeed()
        print("seed of the migrations: \(seed)")
        for number in 0..<(RandomMigrationTests.number("COREDATASOURCE_MIGRATIONS") ?? 30) {
            var random = SeededRandom(seed: seed &+ number)
            var drafts = [ModelDraft(using: &random)]
            while drafts.count < 4 {
                let (first, old) = (drafts[0], drafts[drafts.count - 1])
                var draft = old
                for _ in 0..<Int.random(in: 1...8, using: &random) { draft.edit(using: &random, of: [first, old]) }
                // The author is told.
                guard draft.isClear(after: old) else { continue }
                let moment = "seed \(seed &+ number), round \(drafts.count)"
                try expectValues(StartTrial(from: old, to: draft, using: &random, moment))
                // Somebody skipped the versions between.
                if drafts.count > 1 {
                    let moment = "\(moment), from the first"
                    try expectValues(StartTrial(from: first, to: draft, after: drafts, using: &random, moment))
                }
                draft.publish()
                drafts.append(draft)
            }
        }
    }

    private func expectValues(_ trial: StartTrial) throws {
        try trial.run { before, after, staying in
            try expectCarried(
                before.tables, after.tables, trial.tags(before).filter { staying.contains($0.value) }, trial)
        }
    }

    /// - Parameter tags: The old entities of the rows that are carried over, by their keys.
    private func expectCarried(
        _ before: [String: [String: [String: String]]], _ after: [String: [String: [String: String]]],
        _ tags: [String: Int], _ trial: StartTrial
    ) throws {
        let (old, new, newModel, moment) = (trial.old, trial.new, trial.newModel, trial.moment)
        let carried = Set(tags.values)
        for entity in new.entities {
            guard let oldEntity = old.entity(entity.tag), let rows = before[oldEntity.name],
                carried.contains(entity.tag)
            else {
                #expect(after[entity.name] == [:], "\(moment): \(entity.name)")
                continue
            }
            #expect(after[entity.name].map { Set($0.keys) } == Set(rows.keys), "\(moment): \(entity.name)")
            for (key, row) in rows {
                let newRow = after[entity.name]?[key] ?? [:]
                expectAttributes(row, newRow, old.lineage(oldEntity), new.lineage(entity), "\(moment): \(entity.name)")
                for link in new.lineage(entity).flatMap(\.links) where !link.isToMany {
                    guard let oldLink = old.lineage(oldEntity).flatMap(\.links).first(where: { $0.tag == link.tag }),
                        let value = row[oldLink.name]
                    else {
                        #expect(newRow[link.name] == "NULL", "\(moment): \(entity.name).\(link.name)")
                        continue
                    }
                    let isThere = reaches(link, tags[value], new)
                    #expect(newRow[link.name] == (isThere ? value : "NULL"), "\(moment): \(entity.name).\(link.name)")
                    if isThere, let number = newRow["\(link.name).entity"].flatMap({ Int($0) }) {
                        #expect(newModel.entities[number].name == new.entity(tags[value] ?? 0)?.name, "\(moment)")
                    }
                }
            }
        }
        try expectPairs(before, after, tags, old, new, moment)
    }

    private func expectAttributes(
        _ row: [String: String], _ newRow: [String: String], _ old: [ModelDraft.Entity], _ new: [ModelDraft.Entity],
        _ moment: String
    ) {
        for attribute in new.flatMap(\.attributes) {
            let value = newRow[attribute.name]
            if let source = attribute.source.flatMap({ tag in new.flatMap(\.attributes).first { $0.tag == tag } }) {
                let text = newRow[source.name] ?? ""
                #expect(value == attribute.derived(from: text), "\(moment).\(attribute.name)")
                continue
            }
            // What was derived and is not any more keeps its values.
            let oldOne = old.flatMap(\.attributes).first { $0.tag == attribute.tag }
            let oldValue =
                oldOne.flatMap { one in row[one.name].map { widened($0, one.type, attribute.type) } } ?? "NULL"
            if attribute.isOptional || oldValue != "NULL" {
                #expect(value == oldValue, "\(moment).\(attribute.name)")
            } else {
                #expect(value != nil && value != "NULL", "\(moment).\(attribute.name)")
            }
        }
    }

    /// How SQL writes a stored number of one type as one of the other.
    private func widened(_ value: String, _ old: AttributeType, _ new: AttributeType) -> String {
        guard value != "NULL", [.integer16, .integer32, .integer64].contains(old) else { return value }
        return switch new {
        case .decimal: "'\(value)'"
        case .double, .float: "\(value).0"
        default: value
        }
    }

    private func reaches(_ link: ModelDraft.Link, _ tag: Int?, _ model: ModelDraft) -> Bool {
        guard let entity = tag.flatMap(model.entity) else { return false }
        return model.lineage(entity).contains { $0.tag == link.destination }
    }

    private func expectPairs(
        _ before: [String: [String: [String: String]]], _ after: [String: [String: [String: String]]],
        _ tags: [String: Int], _ old: ModelDraft, _ new: ModelDraft, _ moment: String
    ) throws {
        for owner in new.entities {
            for link in owner.links where link.isToMany {
                let pairs = Set((after["_\(owner.name)_\(link.name)"] ?? [:]).keys)
                var expected: Set<String> = []
                if let oldOwner = old.entities.first(where: { $0.links.contains { $0.tag == link.tag } }),
                    let oldLink = oldOwner.links.first(where: { $0.tag == link.tag }),
                    // A new entity under the name of nothing has no predecessor to ask.
                    new.entity(oldOwner.tag) != nil
                {
                    if oldLink.isToMany {
                        expected = Set((before["_\(oldOwner.name)_\(oldLink.name)"] ?? [:]).keys)
                    } else {
                        for entity in old.entities where old.lineage(entity).contains(where: { $0.tag == oldOwner.tag })
                        {
                            for (key, row) in before[entity.name] ?? [:] where row[oldLink.name] != "NULL" {
                                expected.insert("\(key) \(row[oldLink.name] ?? "")")
                            }
                        }
                    }
                }
                expected = expected.filter { pair in
                    let ends = pair.split(separator: " ").map { tags[String($0)] }
                    guard let source = ends[0].flatMap(new.entity) else { return false }
                    return new.lineage(source).contains { $0.tag == owner.tag } && reaches(link, ends[1], new)
                }
                #expect(pairs == expected, "\(moment): \(owner.name).\(link.name)")
            }
        }
    }
}

extension ModelDraft.Attribute {
    /// The derived text as SQL writes it.
    fileprivate func derived(from text: String) -> String {
        switch change {
        case "lowercase" where text != "NULL": text.lowercased()
        case "uppercase" where text != "NULL": text.uppercased()
        default: text
        }
    }
}
