import ErrorExpectations
import Foundation
import ManagedModel
import ModelMigration
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// When a store is migrated, what else is done, and what the store keeps for it.
struct MigrationPolicyTests {
    private static let model = ManagedObjectModel(
        name: "",
        entities: [
            EntityDescription(
                name: "Note", attributes: [AttributeDescription(name: "text", type: .string, isOptional: true)]),
            EntityDescription(name: "Tag"),
        ])

    /// The text of notes is required, so notes without one prevent the migration.
    private static let strict = model.changed { $0.edit("Note") { $0.attributes[0].isOptional = false } }
    private static let other = model.changed { $0.edit("Note") { $0.attributes[0].type = .date } }

    private func folder(_ sql: String...) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try makeStore(
            folder, MigrationPolicyTests.model,
            ["INSERT INTO Note (_key, text) VALUES (1, 'a'), (2, NULL)", "INSERT INTO Tag (_key) VALUES (3)"] + sql)
        return folder
    }

    @Test func withoutThePolicyNothingIsMigrated() throws {
        let startup = try migrate(
            try folder(), MigrationPolicyTests.model.changed { $0.entities.removeLast() }, .discard
        )
        .startup
        #expect(startup.migration == nil && startup.fallback == nil && startup.rowsDropped == 3)
    }

    @Test func rowsThatPreventAMigrationFallBackWithTheReason() throws {
        let startup = try migrate(try folder(), MigrationPolicyTests.strict).startup
        #expect(startup.fallback?.hasPrefix("Note.text: the attribute is required now") == true)
        #expect(startup.migration == nil && startup.rowsDropped == 3 && startup.isReset)
        let fitting = try folder("DELETE FROM Note WHERE text IS NULL")
        #expect(try migrate(fitting, MigrationPolicyTests.strict).startup.migration?.rowsCarried == 2)
    }

    @Test func aUniqueIndexOfAnotherProgramThatNewValuesViolateIsNamed() throws {
        let folder = try folder(
            "INSERT INTO Note (_key, text) VALUES (4, NULL)", "CREATE UNIQUE INDEX mine ON Note (text)")
        let model = MigrationPolicyTests.model.changed {
            $0.edit("Note") {
                $0.attributes[0].isOptional = false
                $0.attributes[0].defaultValue = .string("none")
            }
        }
        let startup = try migrate(folder, model).startup
        #expect(startup.fallback?.hasPrefix("Another program has added mine to the file") == true)
    }

    @Test func theFallbackCanBeABackup() throws {
        let folder = try folder()
        let startup = try migrate(folder, MigrationPolicyTests.other, .migrate(otherwise: .backup(keep: 1))).startup
        #expect(startup.fallback?.hasPrefix("Note.text: String -> Date cannot be carried over") == true)
        let backup = try #require(startup.backup)
        #expect(try RawDatabase(backup).run("SELECT count(*) FROM Note") == ["2"])
    }

    @Test func theFallbackCanBeTheChangedEntities() throws {
        let folder = try folder()
        let (startup, raw) = try migrate(folder, MigrationPolicyTests.other, .migrate(otherwise: .changedEntities))
        #expect(startup.fallback?.hasPrefix("Note.text: String -> Date") == true)
        #expect(startup.entitiesReset == ["Note"] && startup.rowsDropped == 2)
        #expect(try raw.run("SELECT count(*) FROM Tag") == ["1"])
        let all = MigrationPolicyTests.other.changed {
            $0.edit("Tag") { $0.attributes.append(AttributeDescription(name: "x", type: .date, isOptional: true)) }
        }
        let whole = try migrate(try self.folder(), all, .migrate(otherwise: .changedEntities)).startup
        #expect(whole.fallback?.hasPrefix("Note.text: String -> Date") == true)
        #expect(whole.fallback?.hasSuffix("Every entity changed.") == true)
        #expect(whole.rowsDropped == 3)
    }

    @Test(arguments: [strict, other]) func theFallbackCanBeAnError(_ model: ManagedObjectModel) throws {
        let folder = try folder()
        let before = folder.contents()
        let error = expectError(.modelChanged) {
            try SQLiteStore.open(.of(model, folder, .migrate(otherwise: .fail)))
        }
        #expect(error?.cause?.contains("Note.text") == true)
        #expect(folder.contents() == before)
        // What is possible is not asked about.
        let startup = try migrate(
            folder, MigrationPolicyTests.model.changed { $0.entities.removeLast() }, .migrate(otherwise: .fail)
        )
        .startup
        #expect(startup.migration?.rowsCarried == 2)
    }

    @Test func anotherDatabaseKeyStillResets() throws {
        let startup = try migrate(
            try folder(), MigrationPolicyTests.model.changed { $0.entities.removeLast() }, key: "2"
        ).startup
        #expect(startup.reason.isDatabaseKeyChanged && startup.rowsDropped == 3)
        #expect(startup.migration == nil && startup.fallback == nil)
        #expect(try migrate(try folder(), MigrationPolicyTests.model, key: "2").startup.rowsDropped == 3)
    }

    /// Rows of another key are data that cannot be fetched again, too, so nothing is dropped.
    @Test func aNewDatabaseKeyThrowsIfTheFallbackIsFail() throws {
        let folder = try folder()
        let before = folder.contents()
        for model in [MigrationPolicyTests.model, MigrationPolicyTests.model.changed { $0.entities.removeLast() }] {
            _ = expectError(.modelChanged) { try migrate(folder, model, .migrate(otherwise: .fail), key: "2") }
        }
        #expect(folder.contents() == before)
    }

    @Test func aChangedKeyOfADataSourceDropsItsRows() throws {
        let startup = try migrate(try folder(), MigrationPolicyTests.model, keys: ["Tag": "1"]).startup
        #expect(startup.reason == .sourceKeysChanged(entities: ["Tag"]))
        #expect(startup.entitiesReset == ["Tag"] && startup.rowsDropped == 1 && startup.migration == nil)
        let asking = try folder()
        #expect(
            code {
                _ = try SQLiteStore.open(
                    .of(MigrationPolicyTests.strict, asking, .migrate(otherwise: .fail), keys: ["Tag": "1"]))
            } == .modelChanged)
    }

    @Test func policiesAreNotNested() {
        #expect(ResetPolicy.migrate(otherwise: .migrate(otherwise: .fail)) == .migrate(otherwise: .fail))
        #expect(ResetPolicy.migrate == .migrate(otherwise: .standard))
        #expect(ResetPolicy.migrate(otherwise: .migrate) == .migrate)
    }

    // MARK: What the store keeps

    /// As a release wrote it that did not know of this, and as somebody with a hex editor leaves it.
    @Test(arguments: [
        "DELETE FROM _metadata WHERE name = 'model'", "UPDATE _metadata SET value = x'00ff' WHERE name = 'model'",
        "UPDATE _metadata SET value = 7 WHERE name = 'model'",
    ])
    func aStoreThatDoesNotSayItsModelFallsBack(_ sql: String) throws {
        let folder = try folder(sql)
        let new = MigrationPolicyTests.model.changed { $0.entities.removeLast() }
        let startup = try migrate(folder, new).startup
        #expect(startup.fallback?.contains("model") == true && startup.fallback?.hasSuffix(".") == true)
        #expect(startup.rowsDropped == 3)
        // For its own model it is a whole store, and says it again.
        let current = try self.folder(sql)
        #expect(try migrate(current, MigrationPolicyTests.model).startup.reason == .current)
        #expect(try migrate(current, new).startup.migration?.rowsCarried == 2)
    }

    /// What is an error with the same model is no reason for a reset with another one.
    @Test(arguments: [
        "ALTER TABLE Note ADD COLUMN more", "DROP TABLE Tag",
        "CREATE TRIGGER t AFTER INSERT ON Note BEGIN SELECT 1; END",
        "UPDATE _metadata SET value = value || ' ' WHERE name = 'model'",
        "UPDATE _metadata SET value = '' WHERE name = 'model'",
        "UPDATE _metadata SET value = '\(strict.storedText.replacingOccurrences(of: "'", with: "''"))' WHERE name = 'model'",
    ])
    func aDamagedStoreIsNotDiscarded(_ sql: String) throws {
        let folder = try folder(sql)
        let new = MigrationPolicyTests.model.changed { $0.entities.removeLast() }
        #expect(code { _ = try migrate(folder, new) } == .storeCorrupt)
        #expect(try RawDatabase(folder.store).run("SELECT count(*) FROM Note") != ["0"])
    }

    @Test func additionsOfOthersStayOrPreventAMigration() throws {
        let new = MigrationPolicyTests.model.changed { $0.entities.append(EntityDescription(name: "Mine")) }
        let sql = ["CREATE VIEW notes AS SELECT * FROM Note", "CREATE TABLE yours (a)", "INSERT INTO yours VALUES (1)"]
        let folder = try folder(sql[0], sql[1], sql[2])
        let (startup, raw) = try migrate(folder, new)
        #expect(startup.migration?.rowsCarried == 3)
        #expect(try raw.run("SELECT a FROM yours") == ["1"])
        let taken = try migrate(try self.folder("CREATE TABLE mine (a)"), new).startup
        #expect(taken.fallback?.hasPrefix("Another program has added mine to the file") == true)
    }

    /// Renaming identifiers are not part of the hash, and a later release may need them.
    @Test func anEditOfARenamingIdentifierIsKept() throws {
        let folder = try folder()
        let edited = MigrationPolicyTests.model.changed { $0.edit("Note") { $0.renamingIdentifier = "n" } }
        #expect(try migrate(folder, edited).startup.reason == .current)
        let bytes = folder.contents()
        #expect(try migrate(folder, edited).startup.reason == .current)
        #expect(folder.contents() == bytes)
        let later = edited.changed { $0.edit("Note") { $0.name = "Memo" } }
        #expect(try migrate(folder, later).raw.run("SELECT count(*) FROM Memo") == ["2"])
    }

    @Test func rowsMustBeUniqueUnderANewConstraint() throws {
        let unique = MigrationPolicyTests.model.changed { $0.edit("Note") { $0.uniquenessConstraints = [["text"]] } }
        let startup = try migrate(try folder("INSERT INTO Note (_key, text) VALUES (9, 'a')"), unique).startup
        #expect(startup.fallback?.hasPrefix("Note: objects have the same text, which must be unique now") == true)
        #expect(
            try migrate(try folder("INSERT INTO Note (_key) VALUES (9)"), unique).startup.migration?.rowsCarried == 4)
        // Of a whole family.
        let family = unique.changed {
            $0.edit("Tag") { $0.parentName = "Note" }
            $0.edit("Note") { $0.attributes[0].defaultValue = .string("a") }
            $0.edit("Note") { $0.attributes[0].isOptional = false }
        }
        let doubled = try migrate(try folder("DELETE FROM Note WHERE text IS NULL"), family).startup
        #expect(doubled.fallback?.hasPrefix("Note: objects have the same text") == true)
    }

    // MARK: Progress

    @Test func progressIsReportedAndNeverGoesBack() throws {
        let count = ProcessInfo.processInfo.environment["COREDATASOURCE_MIGRATED_ROWS"].flatMap { Int($0) } ?? 100_000
        let folder = try TemporaryFolder()
        try makeStore(
            folder, MigrationPolicyTests.model,
            [
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) "
                    + "INSERT INTO Note (_key, text) SELECT i, 'note ' || i FROM n",
                "INSERT INTO Tag (_key) VALUES (\(count + 1))",
            ])
        let new = MigrationPolicyTests.model.changed {
            $0.edit("Note") { $0.attributes.append(AttributeDescription(name: "day", type: .date, isOptional: true)) }
        }
        let reports = Guarded<[MigrationProgress]>([])
        var options = SQLiteStore.Options.of(new, folder)
        options.migrationProgress = { progress in reports.withLock { $0.append(progress) } }
        let store = try SQLiteStore.open(options)
        #expect(store.startup.migration?.rowsCarried == count + 1)
        store.close()
        let all = reports.withLock { $0 }
        #expect(all.count > 20)
        #expect(
            all.first?.completedRowCount == 0
                && all.last == MigrationProgress(completedRowCount: count + 1, totalRowCount: count + 1))
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedRowCount <= $1.completedRowCount })
        #expect(all.allSatisfy { $0.totalRowCount == count + 1 })
        #expect(Set(all.compactMap(\.entityName)) == ["Note", "Tag"])
        #expect(
            try RawDatabase(folder.store).run("SELECT count(*), sum(_key) FROM Note") == [
                "\(count)", "\(count * (count + 1) / 2)",
            ])
    }
}
