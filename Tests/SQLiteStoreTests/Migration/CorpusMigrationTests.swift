import Foundation
import ManagedModel
import ModelReader
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// The histories of real apps' models, version by version and over several at once.
@Suite(
    .enabled(if: !ModelHistory.all.isEmpty, "no models found: set COREDATASOURCE_MODELS to their directory"))
struct CorpusMigrationTests {
    /// All steps with `COREDATASOURCE_MIGRATIONS` in the environment; otherwise those that are refused and some others,
    /// beginning at one that `COREDATASOURCE_SEED` decides.
    private static let interval = ProcessInfo.processInfo.environment["COREDATASOURCE_MIGRATIONS"] == nil ? 10 : 1
    private static let seed = testSeed()

    @Test(arguments: ModelHistory.all) func everyVersionMigratesToTheNextOrGivesAReason(_ history: ModelHistory) throws
    {
        let first = Int(Self.seed % UInt64(Self.interval))
        for (number, (old, new)) in history.steps.enumerated() {
            let name = new.deletingPathExtension().lastPathComponent
            let beginning = history.refused[name]
            guard beginning != nil || number % Self.interval == first else { continue }
            let reason = try step(from: old, to: new)
            #expect((reason != nil) == (beginning != nil), "\(name), seed \(Self.seed): \(reason ?? "migrated")")
            if let reason, let beginning { #expect(reason.hasPrefix(beginning), "\(name): \(reason)") }
        }
    }

    /// Versions are skipped, as by a user who did not start the app for a year.
    @Test(arguments: ModelHistory.all) func versionsCanBeSkipped(_ history: ModelHistory) throws {
        for jump in [2, 5, 12, history.versions.count - 1] {
            for index in stride(from: 0, to: history.versions.count - jump, by: jump * Self.interval) {
                _ = try step(from: history.versions[index], to: history.versions[index + jump])
            }
        }
    }

    /// One store lives through the versions, as long as each can be migrated to.
    @Test(arguments: ModelHistory.all) func oneStoreLivesThroughAllVersions(_ history: ModelHistory) throws {
        var store = try FilledStore(read(history.versions[0]))
        for index in stride(from: 1, to: history.versions.count, by: Self.interval) {
            let model = try read(history.versions[index])
            let startup = try migrate(store.folder, model).startup
            if startup.fallback != nil { store = try FilledStore(model) }
        }
    }

    /// Returns why it was not possible; nil if it was.
    private func step(from old: URL, to new: URL) throws -> String? {
        let moment = "\(old.lastPathComponent) -> \(new.lastPathComponent)"
        let (oldModel, newModel) = (try read(old), try read(new))
        let store = try FilledStore(oldModel)
        let before = try TableContents(store.folder)
        let startup = try migrate(store.folder, newModel).startup
        if oldModel.hash == newModel.hash {
            #expect(startup.reason == .current, "\(moment)")
        } else if let fallback = startup.fallback {
            #expect(startup.migration == nil && startup.rowsDropped > 0, "\(moment)")
            return fallback
        } else {
            let removed =
                oldModel.entities.filter { !$0.isAbstract }.count - (startup.migration?.removedEntities.count ?? -1)
            #expect(startup.migration?.rowsCarried == removed * FilledStore.rowCount, "\(moment)")
        }
        expectCarried(before, try TableContents(store.folder), oldModel, newModel, moment)
        return nil
    }

    private func read(_ version: URL) throws -> ManagedObjectModel {
        try ModelReader.read(version).model
    }

    // MARK: What must be as it was

    private func expectCarried(
        _ before: TableContents, _ after: TableContents, _ old: ManagedObjectModel, _ new: ManagedObjectModel,
        _ moment: String
    ) {
        for entity in new.entities where !entity.isAbstract {
            let oldName = old.entity(named: entity.name)?.name ?? entity.renamingIdentifier ?? ""
            guard let oldEntity = old.entity(named: oldName), !oldEntity.isAbstract, let rows = before.tables[oldName]
            else {
                #expect(after.tables[entity.name] == [:], "\(moment): \(entity.name)")
                continue
            }
            #expect(after.tables[entity.name].map { Set($0.keys) } == Set(rows.keys), "\(moment): \(entity.name)")
            for (key, row) in rows {
                let newRow = after.tables[entity.name]?[key] ?? [:]
                expectCarried(row, newRow, Sides(old, new, oldEntity, entity), "\(moment): \(entity.name) \(key)")
            }
        }
        for (name, pairs) in after.tables where new.entity(named: name) == nil {
            guard let oldPairs = before.tables[name], old.entity(named: name) == nil else { continue }
            let keys = Set(after.tables.filter { new.entity(named: $0.key) != nil }.flatMap(\.value.keys))
            let left = oldPairs.filter { keys.contains($1["_source"] ?? "") && keys.contains($1["_destination"] ?? "") }
            #expect(Set(pairs.keys) == Set(left.keys), "\(moment): \(name)")
            for (pair, values) in pairs {
                for position in ["_source.position", "_destination.position"] where left[pair]?[position] != nil {
                    #expect(values[position] == left[pair]?[position] || values[position] == nil, "\(moment): \(name)")
                }
            }
        }
    }

    private struct Sides {
        let old: ManagedObjectModel
        let new: ManagedObjectModel
        let columns: [ColumnDescription]
        let oldColumns: [String: ColumnDescription]

        init(
            _ old: ManagedObjectModel, _ new: ManagedObjectModel, _ oldEntity: EntityDescription,
            _ entity: EntityDescription
        ) {
            self.old = old
            self.new = new
            columns = new.columns(of: entity).filter(\.isStored)
            oldColumns = Dictionary(
                uniqueKeysWithValues: old.columns(of: oldEntity).filter(\.isStored).map { ($0.name, $0) })
        }
    }

    private func expectCarried(
        _ row: [String: String], _ newRow: [String: String], _ sides: Sides, _ moment: String
    ) {
        for column in sides.columns {
            let value = newRow[column.name]
            switch column.role {
            case .attribute(let attribute):
                let oldName = sides.oldColumns[column.name]?.name ?? attribute.renamingIdentifier ?? ""
                guard let oldColumn = sides.oldColumns[oldName], let oldValue = row[oldName], oldColumn.attribute != nil
                else {
                    #expect(attribute.defaultValue != nil || value == "NULL", "\(moment).\(column.name)")
                    continue
                }
                if oldValue != "NULL" || attribute.isOptional { #expect(value == oldValue, "\(moment).\(column.name)") }
            case .destinationKey(let relationship):
                let oldName = sides.oldColumns[column.name]?.name ?? relationship.renamingIdentifier ?? ""
                guard case .destinationKey(let oldOne) = sides.oldColumns[oldName]?.role, let oldValue = row[oldName],
                    let key = Int64(oldValue)
                else { continue }
                // The keys of the filled store show of which entity a row is.
                let entity = sides.old.entities[Int((key - 1) / 10)].name
                let family = sides.new.family(ofEntityNamed: relationship.destinationName).filter { !$0.isAbstract }
                let number = family.contains { ($0.renamingIdentifier ?? $0.name) == entity || $0.name == entity }
                #expect(value == (number ? oldValue : "NULL"), "\(moment).\(column.name) to \(oldOne.destinationName)")
            case .destinationEntity(let relationship):
                guard let key = newRow[relationship.name].flatMap({ Int64($0) }),
                    let number = value.flatMap({ Int($0) })
                else { continue }
                let entity = sides.old.entities[Int((key - 1) / 10)].name
                let found = sides.new.entities[number]
                #expect(found.name == entity || found.renamingIdentifier == entity, "\(moment).\(column.name)")
            case .position:
                guard let oldValue = row[column.name] else { continue }
                #expect(value == oldValue, "\(moment).\(column.name)")
            }
        }
    }
}
