import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// What a start has to say and to leave behind, by the tables that were there before.
extension StartTrial {
    /// The old entity of each row, by its key.
    func tags(_ before: TableContents) -> [String: Int] {
        old.entities.reduce(into: [:]) { tags, entity in
            for key in (before.tables[entity.name] ?? [:]).keys { tags[key] = entity.tag }
        }
    }

    /// The keys of the rows of all other entities.
    func rowsOutside(_ staying: Set<Int>, _ before: TableContents) -> Set<String> {
        Set(tags(before).filter { !staying.contains($0.value) }.keys)
    }

    func expectStartup(
        _ startup: StoreStartup, _ live: Live, _ isFallback: Bool, _ before: TableContents, _ staying: Set<Int>
    ) {
        let gone = rowsOutside(staying, before)
        #expect(startup.rowsDropped == gone.count && startup.countFailure == nil, "\(moment)")
        #expect((startup.fallback != nil) == isFallback, "\(moment): \(startup.fallback ?? "")")
        #expect(startup.reason.isModelChanged == isModelChanged, "\(moment)")
        #expect(startup.reason.isDatabaseKeyChanged == isDatabaseKeyChanged, "\(moment)")
        let names = old.entities.filter { keyed.contains($0.tag) }.compactMap { successor($0)?.name }
        #expect(startup.reason.entitiesWithChangedKey == names.sorted(), "\(moment)")
        #expect(
            startup.migration?.rowsCarried == (live == .carried ? tags(before).count - gone.count : nil), "\(moment)")
        #expect(startup.dropped == (live == .nowhere ? StoreStartup.Dropped() : dropped(before, staying)), "\(moment)")
        switch live {
        case .inPlace, .carried: #expect(startup.entitiesReset ?? [] == names.sorted(), "\(moment)")
        case .nowhere: #expect(startup.entitiesReset == nil, "\(moment)")
        // Those that are new are listed, too.
        case .unchanged:
            let changed = old.entities.filter { entity in
                !staying.contains(entity.tag) && new.entities.contains { $0.name == entity.name }
            }
            #expect(Set(startup.entitiesReset ?? []).isSuperset(of: changed.map(\.name)), "\(moment)")
        }
    }

    private func dropped(_ before: TableContents, _ staying: Set<Int>) -> StoreStartup.Dropped {
        let gone = rowsOutside(staying, before)
        var dropped = StoreStartup.Dropped()
        for entity in old.entities {
            let rows = before.tables[entity.name] ?? [:]
            guard staying.contains(entity.tag) else {
                dropped.objects[entity.name] = rows.isEmpty ? nil : rows.count
                continue
            }
            for owner in old.lineage(entity) {
                for link in owner.links where !link.isToMany {
                    let count = rows.values.count { row in row[link.name].map(gone.contains) ?? false }
                    if count > 0 { dropped.links["\(owner.name).\(link.name)", default: 0] += count }
                }
            }
        }
        for owner in old.entities {
            for link in owner.links where link.isToMany {
                let count = (before.tables["_\(owner.name)_\(link.name)"] ?? [:]).keys.count {
                    Set($0.split(separator: " ").map { gone.contains(String($0)) }).count == 2
                }
                if count > 0 { dropped.links["\(owner.name).\(link.name)"] = count }
            }
        }
        return dropped
    }

    // MARK: Backups

    func expectBackups(
        _ startup: StoreStartup, _ kept: Kept, _ backups: [String], _ before: TableContents, _ folder: TemporaryFolder
    ) throws {
        let gone = kept == .withoutKeyed ? rowsOutside(Set(old.entities.map(\.tag)).subtracting(keyed), before) : []
        let isThere = kept != .nothing && gone.count < tags(before).count
        #expect((startup.backup != nil) == isThere, "\(moment)")
        var isStandard = false
        if case .backup = policy.withoutMigration.kind {} else { isStandard = true }
        var expected = backups
        if isStandard, isDatabaseKeyChanged || !keyed.isEmpty {
            let removed = expected.filter { $0 == StartTrial.backups[0] }
            expected.removeAll(where: removed.contains)
            #expect(startup.removedBackups.map(\.lastPathComponent) == removed, "\(moment)")
        } else {
            #expect(startup.removedBackups.isEmpty, "\(moment)")
        }
        guard isThere, let backup = startup.backup else {
            #expect(folder.backups == expected.sorted(), "\(moment)")
            return
        }
        // The newest one stays.
        expected.removeAll { $0 == StartTrial.backups[isStandard ? 0 : 1] }
        #expect(folder.backups == (expected + [backup.lastPathComponent]).sorted(), "\(moment)")
        let name = isStandard ? "test.store.standard-backup-" : "test.store.backup-"
        #expect(backup.lastPathComponent.hasPrefix(name), "\(moment)")
        // What a start that is killed after it leaves has the keys of now.
        let keys: [String: String] = old.entities.reduce(into: [:]) { keys, entity in
            let isGone = kept == .withoutKeyed && keyed.contains(entity.tag)
            keys[entity.name] = isGone ? successor(entity).flatMap { givenKeys[$0.tag] } : oldKeys[entity.tag]
        }
        var options = SQLiteStore.Options.of(oldModel, folder, .fail, keys: keys)
        options.url = backup
        let store = try SQLiteStore.open(options)
        #expect(store.startup.reason == .current, "\(moment)")
        store.close()
        expectSame(try TableContents(backup), before.without(gone, old))
    }

    // MARK: Rows that stay where they are

    /// Links may have rows with other keys.
    func expectSame(_ after: TableContents, _ before: TableContents) {
        #expect(Set(after.tables.keys) == Set(before.tables.keys), "\(moment)")
        for (name, rows) in before.tables {
            let found = after.tables[name]?.mapValues(TableContents.withoutLinkKey)
            #expect(found == rows.mapValues(TableContents.withoutLinkKey), "\(moment): \(name)")
        }
    }

    /// The rows of entities that did not change, under their names, and the links between them.
    func expectUnchanged(_ after: TableContents, _ before: TableContents, _ staying: Set<Int>) {
        let names = tags(before).compactMapValues { staying.contains($0) ? old.entity($0)?.name : nil }
        for entity in new.entities {
            let path = "\(moment): \(entity.name)"
            guard let oldEntity = old.entities.first(where: { $0.name == entity.name && staying.contains($0.tag) }),
                let rows = before.tables[oldEntity.name]
            else {
                #expect((after.tables[entity.name] ?? [:]).isEmpty, "\(path)")
                continue
            }
            #expect(after.tables[entity.name].map { Set($0.keys) } == Set(rows.keys), "\(path)")
            for (key, row) in rows {
                let newRow = after.tables[entity.name]?[key] ?? [:]
                for attribute in new.lineage(entity).flatMap(\.attributes) {
                    #expect(newRow[attribute.name] == row[attribute.name], "\(path).\(attribute.name)")
                }
                for link in new.lineage(entity).flatMap(\.links) where !link.isToMany {
                    let end = row[link.name].flatMap { names[$0] == nil ? nil : $0 } ?? "NULL"
                    #expect(newRow[link.name] == end, "\(path).\(link.name)")
                    guard let number = newRow["\(link.name).entity"].flatMap({ Int($0) }) else { continue }
                    #expect(newModel.entities[number].name == names[end], "\(path).\(link.name)")
                }
            }
        }
        for owner in new.entities {
            for link in owner.links where link.isToMany {
                let table = "_\(owner.name)_\(link.name)"
                let kept = (before.tables[table] ?? [:]).keys.filter {
                    $0.split(separator: " ").allSatisfy { names[String($0)] != nil }
                }
                #expect(Set((after.tables[table] ?? [:]).keys) == Set(kept), "\(moment): \(owner.name).\(link.name)")
            }
        }
    }
}

extension TableContents {
    /// The tables without some rows and the links to them.
    ///
    /// - Parameter draft: The model of the tables.
    func without(_ gone: Set<String>, _ draft: ModelDraft) -> TableContents {
        var contents = self
        for (name, rows) in tables {
            contents.tables[name] = rows.filter { key, _ in
                key.split(separator: " ").allSatisfy { !gone.contains(String($0)) }
            }
        }
        for entity in draft.entities {
            for link in draft.lineage(entity).flatMap(\.links) where !link.isToMany {
                for (key, row) in contents.tables[entity.name] ?? [:] where row[link.name].map(gone.contains) ?? false {
                    for name in ["", ".entity", ".position"] where row[link.name + name] != nil {
                        contents.tables[entity.name]?[key]?[link.name + name] = "NULL"
                    }
                }
            }
        }
        return contents
    }

    fileprivate static func withoutLinkKey(_ row: [String: String]) -> [String: String] {
        row["_source"] == nil ? row : row.filter { $0.key != "_key" }
    }
}

extension TemporaryFolder {
    /// The names of the files that are backups of the store.
    var backups: [String] { names.filter { $0.contains("backup-") } }
}
