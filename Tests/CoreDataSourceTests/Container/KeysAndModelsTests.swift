import CoreDataSource
import ErrorExpectations
import Foundation
import ManagedModel
import TestSupport
import Testing

private class Paper: ManagedObject {
    var title: String? {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
}

private final class Note: Paper { override class var entityName: String { "Note" } }
private final class Memo: Paper { override class var entityName: String { "Memo" } }
private final class Bill: Paper { override class var entityName: String { "Bill" } }
private final class Invoice: Paper { override class var entityName: String { "Invoice" } }

private final class NoteSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [Note.self] }
}
private final class MemoSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [Memo.self] }
}
private final class BillSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [Bill.self] }
}
private final class InvoiceSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [Invoice.self] }
}

/// What a start does when the model and the keys of data sources change together, for every policy, compared with where each row
/// has to be.
@MainActor
struct KeysAndModelsTests {
    /// What happens to an entity in the new model.
    enum Change: CaseIterable {
        case none, addsAttribute, renamed
    }

    /// The key that the next release gives a data source.
    enum Key: CaseIterable {
        case none, same, other

        var text: String? { self == .none ? nil : self == .same ? "1" : "2" }
    }

    enum Policy: CaseIterable {
        case standard, discard, backup, migrate, migrateOrStandard, changedEntities, fail

        var policy: ResetPolicy {
            switch self {
            case .standard: .standard
            case .discard: .discard
            case .backup: .backup(keep: 1)
            case .migrate: .migrate(otherwise: .discard)
            case .migrateOrStandard: .migrate
            case .changedEntities: .changedEntities
            case .fail: .fail
            }
        }
    }

    private struct Case: CustomStringConvertible {
        var notes: Change
        var bills: Change
        var noteKey: Key
        var billKey: Key
        var policy: Policy

        var isModelChanged: Bool { notes != .none || bills != .none }
        var isKeyed: Bool { noteKey == .other || billKey == .other }
        var description: String {
            "notes \(notes) with key \(noteKey), bills \(bills) with key \(billKey), \(policy)"
        }
    }

    private static func model(_ notes: Change, _ bills: Change) -> ManagedObjectModel {
        func entity(_ name: String, _ newName: String, _ change: Change) -> EntityDescription {
            var attributes = [AttributeDescription(name: "title", type: .string, isOptional: true)]
            if change == .addsAttribute {
                attributes.append(AttributeDescription(name: "weight", type: .double, isOptional: true))
            }
            return EntityDescription(
                name: change == .renamed ? newName : name, attributes: attributes,
                renamingIdentifier: change == .renamed ? name : nil)
        }
        return ManagedObjectModel(
            name: "Papers", entities: [entity("Note", "Memo", notes), entity("Bill", "Invoice", bills)])
    }

    @Test(arguments: Policy.allCases) func rowsAreKeptOrDroppedByTheirKeyAndPolicy(policy: Policy) async throws {
        for notes in Change.allCases {
            for bills in Change.allCases {
                for noteKey in Key.allCases {
                    for billKey in Key.allCases {
                        try await check(
                            Case(notes: notes, bills: bills, noteKey: noteKey, billKey: billKey, policy: policy))
                    }
                }
            }
        }
    }

    private func check(_ change: Case) async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        let comment: Testing.Comment = "\(change)"
        var keys = DataSourceKeys()
        keys[change.notes == .renamed ? MemoSource.self : NoteSource.self] = change.noteKey.text
        keys[change.bills == .renamed ? InvoiceSource.self : BillSource.self] = change.billKey.text
        let expected = expectation(change)
        do {
            let container = try await PersistentContainer(
                model: Self.model(change.notes, change.bills), store: .sqlite(directory.store),
                configuration: .init(resetPolicy: change.policy.policy, databaseKeys: keys))
            #expect(expected != nil, comment)
            let main = container.main
            let live = [
                try change.notes == .renamed ? main.count(Memo.self) : main.count(Note.self),
                try change.bills == .renamed ? main.count(Invoice.self) : main.count(Bill.self),
            ]
            #expect(live == expected?.live, comment)
            let kept = try container.startup.backup.map { try Self.rows($0) }
            #expect(kept == expected?.kept, comment)
            let gone = zip([2, 3], live).map { $0 - $1 }.reduce(0, +)
            #expect(container.startup.rowsDropped == gone, comment)
            try await container.close()
            // No other file may have rows of somebody who logged out.
            let files = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            #expect(files.filter { $0.contains("backup-") }.count == (kept == nil ? 0 : 1), comment)
        } catch let error as DataSourceError {
            #expect(expected == nil && error.code == .modelChanged, "\(change): \(error)")
            #expect(try Self.rows(directory.store) == [2, 3], comment)
        }
    }

    /// How many notes and bills are in the store and in the backup; nil if it must not be opened.
    private func expectation(_ change: Case) -> (live: [Int], kept: [Int]?)? {
        let unkeyed = [change.noteKey == .other ? 0 : 2, change.billKey == .other ? 0 : 3]
        let everything = [2, 3]
        if !change.isModelChanged && !change.isKeyed { return (everything, nil) }
        if change.policy == .fail { return nil }
        guard change.isModelChanged else { return (unkeyed, change.policy == .backup ? everything : nil) }
        switch change.policy {
        case .standard: return ([0, 0], unkeyed == [0, 0] ? nil : unkeyed)
        case .discard: return ([0, 0], nil)
        case .backup: return ([0, 0], everything)
        case .migrate, .migrateOrStandard: return (unkeyed, nil)
        case .changedEntities:
            return ([change.notes == .none ? unkeyed[0] : 0, change.bills == .none ? unkeyed[1] : 0], nil)
        case .fail: return nil
        }
    }

    private func fill(_ url: URL) async throws {
        let container = try await PersistentContainer(
            model: Self.model(.none, .none), store: .sqlite(url),
            configuration: .init(databaseKeys: [NoteSource.self: "1", BillSource.self: "1"]))
        try await container.dataSource(NoteSource.self).perform { context in
            for number in 0..<2 { try context.insert(Note.self).title = "\(number)" }
        }
        try await container.dataSource(BillSource.self).perform { context in
            for number in 0..<3 { try context.insert(Bill.self).title = "\(number)" }
        }
        try await container.close()
    }

    private static func rows(_ url: URL) throws -> [Int] {
        let raw = try RawConnection(url)
        return try ["Note", "Bill"].map { Int(try raw.column("SELECT count(*) FROM \($0)")[0]) ?? -1 }
    }

    // MARK: Errors are no resets

    @Test(arguments: [
        "CREATE TRIGGER strange AFTER INSERT ON Note BEGIN DELETE FROM Note; END",
        "UPDATE _metadata SET value = 'model \"Papers\"' WHERE name = 'model'", "ALTER TABLE Note ADD COLUMN mine",
    ])
    func aCorruptStoreWithANewModelIsNotDiscarded(damage: String) async throws {
        for policy in [ResetPolicy.migrate, .migrate(otherwise: .backup(keep: 1))] {
            let directory = try TemporaryDirectory()
            try await fill(directory.store)
            try RawConnection(directory.store).execute(damage)
            await expectError(.storeCorrupt) {
                try await PersistentContainer(
                    model: Self.model(.addsAttribute, .none), store: .sqlite(directory.store),
                    configuration: .init(resetPolicy: policy))
            }
            #expect(try Self.rows(directory.store) == [2, 3])
        }
    }

    /// The rows of the changed key go before the others are set aside, but not out of a store that nobody can read whole.
    @Test func aDamagedStoreIsNotTakenApartByKeys() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        try RawConnection(directory.store).execute("ALTER TABLE Bill RENAME COLUMN title TO mine")
        await expectError(.storeCorrupt) {
            try await PersistentContainer(
                model: Self.model(.addsAttribute, .none), store: .sqlite(directory.store),
                configuration: .init(databaseKeys: [NoteSource.self: "2"]))
        }
        #expect(try Self.rows(directory.store) == [2, 3])
    }

    // MARK: What others have made

    @Test func theTablesAndViewsOfOtherProgramsStay() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        let raw = try RawConnection(directory.store)
        for sql in [
            "CREATE TABLE mine (a)", "INSERT INTO mine VALUES (1), (2)", "CREATE VIEW titles AS SELECT title FROM Note",
            "CREATE VIRTUAL TABLE search USING fts5(words)", "INSERT INTO search VALUES ('a word')",
        ] { try raw.execute(sql) }
        for (number, key) in ["2", "3"].enumerated() {
            let container = try await PersistentContainer(
                model: Self.model(.none, .none), store: .sqlite(directory.store),
                configuration: .init(databaseKeys: [NoteSource.self: key]))
            #expect(container.startup.rowsDropped == (number == 0 ? 2 : 0))
            #expect(try container.main.count(Bill.self) == 3)
            try await container.close()
        }
        #expect(try raw.column("SELECT count(*) FROM mine") == ["2"])
        #expect(try raw.column("SELECT words FROM search WHERE search MATCH 'word'") == ["a word"])
        #expect(try raw.column("SELECT count(*) FROM titles") == ["0"])
    }

    @Test func aTableOfAnotherProgramThatTheModelNeedsIsNamed() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        let raw = try RawConnection(directory.store)
        try raw.execute("CREATE TABLE invoice (a); INSERT INTO invoice VALUES (1)")
        let error = await expectError(.foreignDatabase) {
            try await PersistentContainer(
                model: Self.model(.none, .renamed), store: .sqlite(directory.store),
                configuration: .init(resetPolicy: .changedEntities))
        }
        #expect(error?.message.contains("invoice") == true)
        #expect(try Self.rows(directory.store) == [2, 3])
        #expect(try raw.column("SELECT a FROM invoice") == ["1"])
    }

    @Test func aResetRemovesNoFileThatReplacedTheStore() async throws {
        let directory = try TemporaryDirectory()
        try await fill(directory.store)
        let other = directory.url.appending(component: "other.sqlite")
        try await fill(other)
        let container = try await PersistentContainer(model: Self.model(.none, .none), store: .sqlite(directory.store))
        try #require(rename(other.path, directory.store.path) == 0)
        await expectError(.storeMoved) { try await container.reset() }
        #expect(try Self.rows(directory.store) == [2, 3])
        try? await container.close()
        #expect(try Self.rows(directory.store) == [2, 3])
    }
}
