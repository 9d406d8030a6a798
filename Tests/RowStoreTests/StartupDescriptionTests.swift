import Foundation
import RowStore
import Testing

/// How a startup is printed.
@Suite struct StartupDescriptionTests {
    @Test func aStartupWithoutAResetIsItsReason() {
        #expect(StoreStartup(reason: .current).description == "reason: current")
        #expect("\(StoreStartup(reason: .firstLaunch))" == "reason: firstLaunch")
    }

    @Test func aResetSaysWhatWasDroppedAndWhereTheBackupIs() {
        var startup = StoreStartup(
            reason: .modelAndDatabaseKeyChanged(entities: ["Contact", "Group"]), rowsDropped: 1,
            backup: URL(filePath: "/data/a b.backup"))
        startup.removedBackups = [URL(filePath: "/data/old.backup")]
        startup.countFailure = "The page 7 is damaged."
        startup.fallback = "Contact.age: String -> Date cannot be carried over."
        #expect(
            startup.description == """
                reason: modelChanged(Contact, Group), databaseKeyChanged
                  dropped: 1 object
                  more objects could not be counted: The page 7 is damaged.
                  backup: /data/a b.backup
                  removed backup: /data/old.backup
                  policy not followed: Contact.age: String -> Date cannot be carried over.
                """)
        #expect(StoreStartup(reason: .requested).description == "reason: requested\n  dropped: 0 objects")
    }

    @Test func aPartThatWasDroppedIsCountedByEntityAndRelationship() {
        var startup = StoreStartup(
            reason: .sourceKeysChanged(entities: ["Note"]), rowsDropped: 5, entitiesReset: ["Memo", "Note"])
        startup.dropped.objects = ["Note": 3, "Memo": 2]
        startup.dropped.links = ["Note.folder": 1]
        #expect(
            startup.description == """
                reason: sourceKeysChanged(Note)
                  dropped: 5 objects (Memo 2, Note 3), 1 link (Note.folder 1)
                  only of these entities: Memo, Note
                """)
        #expect(startup.dropped.description == "5 objects (Memo 2, Note 3), 1 link (Note.folder 1)")
        #expect(StoreStartup.Dropped().description == "0 objects")
    }

    @Test func aMigrationListsItsChangesAndLosses() {
        let report = MigrationReport(
            rowsCarried: 12, changes: ["Note.body: renamed from text"], removedEntities: ["Memo"],
            losses: ["Memo: the objects"], unmetRequirements: ["Folder.notes: some objects have no link."])
        var startup = StoreStartup(reason: .modelChanged(entities: ["Note"]), migration: report)
        #expect(
            startup.description == """
                reason: modelChanged(Note)
                  migration: 12 objects carried over
                    changed: Note.body: renamed from text
                    lost: Memo: the objects
                    unmet: Folder.notes: some objects have no link.
                """)
        startup.migration = MigrationReport(rowsCarried: 1)
        startup.rowsDropped = 2
        startup.dropped.objects = ["Memo": 2]
        #expect(
            startup.description == """
                reason: modelChanged(Note)
                  dropped: 2 objects (Memo 2)
                  migration: 1 object carried over
                """)
    }
}
