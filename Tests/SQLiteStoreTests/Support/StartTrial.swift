import ErrorExpectations
import Foundation
import ManagedModel
import ModelMigration
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// One start of a filled store with another model, other keys and any policy. It says where each value has to be after it: dropped,
/// carried over, in its place, or in a backup.
struct StartTrial {
    let old: ModelDraft
    let new: ModelDraft
    let oldModel: ManagedObjectModel
    let newModel: ManagedObjectModel
    let isModelChanged: Bool
    let policy: ResetPolicy
    /// The keys of data sources in the store, and those that the app gives, by the entities' tags.
    let oldKeys: [Int: String]
    let givenKeys: [Int: String]
    let databaseKey: String
    /// Whether no row can be carried over, because a type changed.
    let isBroken: Bool
    /// Whether there are backups of earlier models.
    let hasBackups: Bool
    let moment: String

    /// Where the rows are after it.
    enum Live {
        /// The model is the same; what no key drops is in its place.
        case inPlace
        /// What has not changed is there.
        case unchanged
        /// What the new model has a place for is there.
        case carried
        case nowhere
    }

    /// What is in the backup.
    enum Kept {
        case nothing, everything, withoutKeyed
    }

    var isDatabaseKeyChanged: Bool { databaseKey != "1" }

    /// The entity of the new model that gets the key of an old one. If both models are the same, elements are what they are called.
    func successor(_ entity: ModelDraft.Entity) -> ModelDraft.Entity? {
        isModelChanged ? new.entity(entity.tag) : new.entities.first { $0.name == entity.name }
    }

    /// The old entities whose data source has another key now.
    var keyed: Set<Int> {
        Set(
            old.entities.filter { entity in
                guard let next = successor(entity), let key = givenKeys[next.tag] else { return false }
                return key != oldKeys[entity.tag]
            }.map(\.tag))
    }

    /// The old entities that are the same under the same name, whatever else has been renamed to or from it.
    var unchanged: Set<Int> {
        let (before, after) = (oldModel.entityHashes, newModel.entityHashes)
        return Set(
            old.entities.filter { entity in
                guard let next = new.entities.first(where: { $0.name == entity.name }),
                    before[entity.name] == after[entity.name], !keyed.contains(entity.tag), !keyed.contains(next.tag)
                else { return false }
                // Its rows do not come into the hands of somebody else.
                let key = givenKeys[next.tag] ?? (old.entity(next.tag) == nil ? nil : oldKeys[next.tag])
                return key == oldKeys[entity.tag]
            }.map(\.tag))
    }

    /// What has to happen; nil if the store must not be opened.
    var expectation: (live: Live, kept: Kept, isFallback: Bool)? {
        let (keyed, other) = (keyed, policy.withoutMigration)
        let isKept = !isModelChanged && !isDatabaseKeyChanged && keyed.isEmpty
        if isKept { return (.inPlace, .nothing, false) }
        let kept: Kept =
            switch other {
            case .standard where !isModelChanged || isDatabaseKeyChanged: .nothing
            case .standard: .withoutKeyed
            case .backup(keep: 1): .everything
            default: .nothing
            }
        if isModelChanged, !isDatabaseKeyChanged, policy.migrates, other != .fail || keyed.isEmpty {
            if !isBroken { return (.carried, .nothing, false) }
        }
        if other == .fail { return nil }
        if isDatabaseKeyChanged { return (.nowhere, kept, false) }
        if !isModelChanged { return (.inPlace, kept, false) }
        if other == .changedEntities {
            return unchanged.isEmpty ? (.nowhere, .nothing, true) : (.unchanged, .nothing, policy.migrates)
        }
        return (.nowhere, kept, policy.migrates)
    }

    /// The old entities whose rows are in the new store.
    func staying(_ live: Live) -> Set<Int> {
        switch live {
        case .inPlace: Set(old.entities.map(\.tag)).subtracting(keyed)
        case .unchanged: unchanged
        case .carried: Set(old.entities.map(\.tag).filter { new.entity($0) != nil }).subtracting(keyed)
        case .nowhere: []
        }
    }

    private var keysByName: (old: [String: String], given: [String: String]) {
        func names(_ keys: [Int: String], _ draft: ModelDraft) -> [String: String] {
            draft.entities.reduce(into: [:]) { $0[$1.name] = keys[$1.tag] }
        }
        return (names(oldKeys, old), names(givenKeys, new))
    }

    // MARK: The start

    static let backups = ["test.store.standard-backup-20200101T000000.000Z", "test.store.backup-20200101T000000.000Z"]

    /// - Parameter carried: Compares the rows that a migration carries over.
    func run(
        carried: (_ before: TableContents, _ after: TableContents, _ staying: Set<Int>) throws -> Void
    ) throws {
        let (oldKeys, keys) = keysByName
        let folder = try FilledStore(oldModel, keys: oldKeys).folder
        for sql in [
            "CREATE TABLE mine (a)", "INSERT INTO mine VALUES (1), (2)", "CREATE VIEW ours AS SELECT a FROM mine",
        ] { try RawDatabase(folder.store).run(sql) }
        let backups = hasBackups ? StartTrial.backups : []
        for name in backups { try Data("rows".utf8).write(to: folder.url.appending(component: name)) }
        let before = try TableContents(folder)
        let bytes = folder.contents()
        guard let (live, kept, isFallback) = expectation else {
            expectError(.modelChanged, "\(moment)") {
                try SQLiteStore.open(.of(newModel, folder, policy, key: databaseKey, keys: keys)).close()
            }
            #expect(folder.contents() == bytes, "\(moment)")
            #expect(folder.backups == backups.sorted(), "\(moment)")
            return
        }
        let startup = try migrate(folder, newModel, policy, key: databaseKey, keys: keys).startup
        let staying = staying(live)
        expectStartup(startup, live, isFallback, before, staying)
        try expectBackups(startup, kept, backups, before, folder)
        let raw = try RawDatabase(folder.store)
        let isForeignThere = live != .nowhere
        #expect(
            try raw.run("SELECT count(*) FROM sqlite_schema WHERE name IN ('mine', 'ours')")
                == [isForeignThere ? "2" : "0"], "\(moment)")
        if isForeignThere { #expect(try raw.run("SELECT a FROM ours ORDER BY 1") == ["1", "2"], "\(moment)") }
        let after = try TableContents(folder)
        switch live {
        case .inPlace: expectSame(after, before.without(rowsOutside(staying, before), old))
        case .unchanged: expectUnchanged(after, before, staying)
        case .carried: try carried(before, after, staying)
        case .nowhere: #expect(after.tables.values.allSatisfy { $0.isEmpty }, "\(moment)")
        }
    }
}
