import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import Synchronization
import Testing

/// The hook before a save: what it gets, and what it may do.
@MainActor
struct WillSaveTests {
    private func withMembers(
        _ kind: StoreKind = .sqlite, _ body: @MainActor (ScriptedSource, PersistentContainer) async throws -> Void
    ) async throws {
        try await withContainer(kind) { container, _ in
            try await body(try container.dataSource(ScriptedSource.self), container)
        }
    }

    private let members = [Member("1", "a"), Member("2", "a"), Member("3")]

    @Test(arguments: StoreKind.allCases)
    func theHookGetsWhatTheBatchHasDone(kind: StoreKind) async throws {
        try await withMembers(kind) { source, _ in
            try await source.add(members)
            #expect(
                source.script.takeCalls() == [
                    [
                        "insert 1 name uid group", "insert a gid name", "insert 2 name uid group",
                        "insert 3 name uid",
                    ]
                ])
            try await source.perform { context in
                let contacts = try context.fetch(ContactEntity.self, order: [.ascending(\.uid)])
                (contacts[0].name, contacts[0].group) = ("new", nil)
                // The same value is no change, and an object that is gone again is none.
                contacts[2].name = contacts[2].name
                context.delete(try context.insert(GroupEntity.self))
                contacts[1].name = "last"
                context.delete(contacts[1])
                let group = try context.insert(GroupEntity.self)
                (group.gid, contacts[2].group) = ("b", group)
            }
            let calls = source.script.takeCalls()
            #expect(
                calls == [
                    [
                        "update 1 name group, was name 1 in a", "delete 2 name uid group, was name 2 in a",
                        "insert b gid name", "update 3 group, was name 3 in nothing",
                    ]
                ])
            #expect(source.script.takeLastNames() == ["last"])
        }
    }

    @Test func everyBatchWithChangesCallsTheHookOnce() async throws {
        try await withMembers { source, container in
            func calls(_ work: () async throws -> Void) async throws -> Int {
                _ = source.script.takeCalls()
                try await work()
                return source.script.takeCalls().count
            }
            #expect(try await calls { try await source.add(members) } == 1)
            #expect(try await calls { try await source.add(members) } == 0)
            #expect(try await calls { try await source.sync(members, entity: ContactEntity.self) } == 1)
            #expect(try await calls { _ = try await source.planSync([members[0]], entity: ContactEntity.self) } == 1)
            #expect(try source.count(ContactEntity.self) == 3)
            #expect(try await calls { try await source.update(ContactEntity.self, set: [.set(\.note, "n")]) } == 1)
            #expect(try await calls { try await source.delete(members[2]) } == 1)
            #expect(try await calls { _ = try await source.perform { try $0.count(ContactEntity.self) } } == 0)
            let draft = try source.draft(inserting: ContactEntity.self)
            draft.object.uid = "4"
            #expect(try await calls { try await draft.save() } == 1)
            #expect(
                try await calls {
                    try await container.perform(in: source) { try $0.insert(GroupEntity.self).gid = "g" }
                }
                    == 1
            )
            let graph = try await container.read { try $0.exportGraph(of: [ContactEntity.self, GroupEntity.self]) }
            #expect(try await calls { try await source.delete(ContactEntity.self, where: \.uid == "4") } == 1)
            #expect(try await calls { try await container.importGraph(graph) } == 1)
            #expect(
                try await calls { try await source.sync([], entity: ContactEntity.self, options: .allowsEmpty) } == 1)
            #expect(try source.count(ContactEntity.self) == 0)
        }
    }

    /// The draft follows the save, as it follows saves of others.
    @Test func aDraftShowsWhatTheHookHasSet() async throws {
        try await withMembers { source, _ in
            try await source.add(members)
            source.script.set { changes, _ in
                for group in try changes.owners(of: \GroupEntity.members) {
                    group.memberCount = Int32(group.members.count)
                }
                for change in try changes.of(ContactEntity.self) where change.kind != .delete {
                    change.object.note = "of \(change.object.group?.gid ?? "none")"
                }
            }
            let contact = try #require(try source.fetch(ContactEntity.self, where: \.uid == "3").first)
            let draft = try source.draft(of: contact)
            let groups = try draft.context.fetch(GroupEntity.self)
            draft.object.group = groups.first
            try await draft.save()
            #expect(contact.note == "of a" && draft.object.note == "of a")
            #expect(contact.group?.memberCount == 3 && groups.first?.memberCount == 3)
            draft.object.note = "edited"
            let report = try await draft.save()
            #expect(report.conflicts.isEmpty && report.merged.isEmpty)
            #expect(contact.note == "of a" && draft.object.note == "of a")
        }
    }

    /// Calls with a callback, too, call the hook.
    @Test func callsWithACallbackCallTheHook() async throws {
        try await withMembers { source, _ in
            let report = await withCheckedContinuation { continuation in
                source.add(members) { continuation.resume(returning: try? $0.get()) }
            }
            #expect(report == SaveReport(inserted: 4))
            #expect(source.script.takeCalls().count == 1)
            try source.performAndWait { try $0.delete(ContactEntity.self, where: nil) }
            #expect(source.script.takeCalls().count == 1)
        }
    }

    /// A subclass overrides the hook.
    @Test func aSubclassOverridesTheHook() async throws {
        try await withContainer { container, _ in
            let source = try container.dataSource(OverridingSource.self)
            try await source.add(members)
            #expect(source.script.takeCalls().count == 2)
            #expect(try source.fetch(ContactEntity.self).allSatisfy { $0.note == "by the subclass" })
        }
    }

    /// The previous values are those of the last save or call, and cannot be edited.
    @Test func previousValuesAreRead() async throws {
        try await withMembers { source, _ in
            try await source.add(members)
            let found = Mutex<[String]>([])
            source.script.set { changes, _ in
                for change in try changes.of(ContactEntity.self) {
                    let previous = change.previous(\.self).map { "\($0)" } ?? "nil"
                    let length = change.previous(\.name.count) ?? -1
                    found.withLock { $0 += [previous, "\(length)", change.previous(\.group)?.name ?? "nil"] }
                }
                for change in try changes.of(GroupEntity.self) where change.previous(\.members) != nil {
                    found.withLock { $0.append("members") }
                }
            }
            try await source.perform { context in
                let contact = try context.first(ContactEntity.self, where: \.uid, equals: "1")
                contact?.name = "renamed to a long name"
                contact?.group = nil
                try context.first(GroupEntity.self)?.name = "new"
            }
            #expect(found.withLock { $0 } == ["nil", "6", "new"])
        }
    }

    /// Rows that a batch without the hook would change without objects become objects.
    @Test(arguments: StoreKind.allCases)
    func updatesAndDeletionsOfRowsAreShown(kind: StoreKind) async throws {
        try await withMembers(kind) { source, _ in
            try await source.add(members)
            _ = source.script.takeCalls()
            source.script.set { changes, _ in
                for change in try changes.of(ContactEntity.self) where change.kind == .update { change.object.age = 7 }
            }
            let report = try await source.update(
                ContactEntity.self, where: \.uid < "3", set: [.set(\.note, "n"), .set(\.name, "name 1")])
            #expect(report == SaveReport(updated: 2))
            #expect(source.script.takeCalls().count == 2)
            let contacts = try source.fetch(ContactEntity.self, order: [.ascending(\.uid)])
            #expect(contacts.map(\.note) == ["n", "n", nil] && contacts.map(\.age) == [7, 7, 0])
            #expect(contacts.map(\.name) == ["name 1", "name 1", "name 3"])
            source.script.set { _, _ in }
            #expect(try await source.delete(ContactEntity.self, where: \.uid > "1") == SaveReport(deleted: 2))
            #expect(
                source.script.takeCalls() == [
                    ["delete 2 name note uid group, was name 1 in a", "delete 3 name uid, was name 3 in nothing"]
                ])
        }
    }

    @Test func whatTheHookEditsIsShownAgainUntilNothingIsNew() async throws {
        try await withMembers { source, _ in
            source.script.set { changes, context in
                for change in try changes.of(ContactEntity.self) where change.object.note != "b" {
                    change.object.note = change.object.note == "a" ? "b" : "a"
                    if change.object.note == "b" {
                        try context.findOrInsert(GroupEntity.self, where: \.gid, equals: "end").name = "end"
                    }
                }
            }
            let report = try await source.add(members[2])
            #expect(report == SaveReport(inserted: 2))
            #expect(
                source.script.takeCalls() == [
                    ["insert 3 name uid"], ["update 3 note, was name 3 in nothing"],
                    ["update 3 note, was name 3 in nothing", "insert end gid name"],
                ])
            #expect(try source.fetch(ContactEntity.self).map(\.note) == ["b"])
        }
    }

    @Test func aHookThatEditsEachTimeIsRefused() async throws {
        try await withMembers { source, container in
            source.script.set { changes, _ in
                for change in try changes.of(ContactEntity.self) { change.object.age += 1 }
            }
            let error = await expectError(.willSaveRepeats) { try await source.add(members) }
            #expect(error?.message.contains("ScriptedSource was called 8 times") == true)
            #expect(source.script.takeCalls().count == 8)
            let count = try source.count(ContactEntity.self)
            #expect(count == 0)
            #expect(container.stack.root.pendingSaveCount == 0)
            source.script.set { _, _ in }
            #expect(try await source.add(members) == SaveReport(inserted: 4))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aHookThatThrowsRollsTheWholeBatchBack(kind: StoreKind) async throws {
        try await withMembers(kind) { source, _ in
            try await source.add(members)
            source.script.set { changes, context in
                if try changes.of(ContactEntity.self).isEmpty { return }
                try context.insert(GroupEntity.self).gid = "hook"
                throw Poison()
            }
            let before = try source.fetch(ContactEntity.self).map(\.description)
            // Enough for an early write.
            let many = (0..<3_000).map { Member("new \($0)", "a") }
            await expectThrows(Poison.self) { try await source.add(many) }
            await expectThrows(Poison.self) { try await source.delete(members) }
            await expectThrows(Poison.self) { try await source.delete(GroupEntity.self, where: nil) }
            await expectThrows(Poison.self) {
                try await source.update(ContactEntity.self, set: [.set(\.note, "n")])
            }
            await expectThrows(Poison.self) { _ = try await source.planSync(many, entity: ContactEntity.self) }
            #expect(try source.fetch(ContactEntity.self).map(\.description) == before)
            #expect(try source.fetch(GroupEntity.self).map(\.gid) == ["a"])
            source.script.set { _, _ in }
            #expect(try await source.add(many) == SaveReport(inserted: 3_000))
        }
    }

    /// The rules of the model are checked after the hook, and delete rules apply to what the hook deletes.
    @Test func theHookComesBeforeTheChecks() async throws {
        try await withMembers { source, _ in
            try await source.add(members)
            source.script.set { changes, context in
                for change in try changes.of(ContactEntity.self) where change.kind == .insert {
                    if change.object.uid == "" { change.object.uid = "set" }
                    if change.object.name == "twice" { change.object.uid = "1" }
                    if change.object.name == "end" { try context.delete(GroupEntity.self, where: nil) }
                }
            }
            try await source.perform { try $0.insert(ContactEntity.self).name = "without a uid" }
            #expect(try source.count(ContactEntity.self, where: \.uid == "set") == 1)
            await expectError(.uniquenessViolated) {
                try await source.perform { try $0.insert(ContactEntity.self).name = "twice" }
            }
            try await source.perform { context in
                let contact = try context.insert(ContactEntity.self)
                (contact.uid, contact.name) = ("9", "end")
            }
            #expect(try source.count(GroupEntity.self) == 0)
            #expect(try source.fetch(ContactEntity.self).allSatisfy { $0.group == nil })
        }
    }

    @Test func aLinkToAnObjectThatTheBatchDeletesIsRefused() async throws {
        try await withMembers { source, _ in
            try await source.add(members)
            source.script.set { changes, context in
                for group in try changes.of(GroupEntity.self) where group.kind == .delete {
                    for contact in try context.fetch(ContactEntity.self) { contact.group = group.object }
                }
            }
            await expectError(.objectGone) { try await source.delete(GroupEntity.self, where: nil) }
            #expect(try source.fetch(ContactEntity.self).map { $0.group?.gid } == ["a", "a", nil])
        }
    }

    /// Delete rules reach objects of another data source, whose hook gets its own objects only.
    @Test func eachDataSourceOfABatchGetsItsOwnChanges() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ScriptedContacts.self)
            let groups = try container.dataSource(GroupDataSource.self)
            try await container.perform(in: contacts, groups) { contacts, groups in
                let group = try groups.insert(GroupEntity.self)
                let contact = try contacts.insert(ContactEntity.self)
                (group.gid, contact.uid, contact.name, contact.group) = ("a", "1", "name 1", group)
            }
            #expect(contacts.script.takeCalls() == [["insert 1 name uid group"]])
            try await groups.delete(GroupEntity.self, where: nil)
            #expect(contacts.script.takeCalls() == [["update 1 group, was name 1 in nothing"]])
            try await groups.add(GroupData(gid: "b", name: "b"))
            #expect(contacts.script.takeCalls() == [])
            contacts.script.set { _, context in try context.insert(GroupEntity.self).gid = "not owned" }
            await expectError(.entityNotOwned) {
                try await contacts.perform { try $0.insert(ContactEntity.self).uid = "2" }
            }
        }
    }

    /// All objects of a large save are shown, although their rows were written before.
    @Test func rowsThatAreWrittenEarlyAreShownAndMayBeEdited() async throws {
        try await withMembers { source, _ in
            source.script.set { changes, _ in
                for change in try changes.of(ContactEntity.self) where change.kind == .insert {
                    change.object.note = "noted \(change.object.uid)"
                }
            }
            let count = 6_000
            let report = try await source.add((0..<count).map { Member("\($0)") })
            #expect(report == SaveReport(inserted: count))
            #expect(source.script.takeCalls().map(\.count) == [count, count])
            let notes = try source.fetch(ContactEntity.self).map { [$0.note, "noted \($0.uid)"] }
            #expect(notes.count == count && notes.allSatisfy { $0[0] == $0[1] })
        }
    }

    /// The hook may discard the batch, and go on with edits of its own.
    @Test func aHookMayRollBack() async throws {
        try await withMembers { source, _ in
            source.script.set { changes, context in
                guard try !changes.of(ContactEntity.self).isEmpty else { return }
                context.rollback()
                try context.insert(GroupEntity.self).gid = "instead"
            }
            let report = try await source.add(members)
            #expect(report == SaveReport(inserted: 1))
            #expect(try source.fetch(GroupEntity.self).map(\.gid) == ["instead"])
            #expect(source.script.takeCalls().last == ["insert instead gid name"])
        }
    }

    @Test func aLinkInAJoinTableChangesBothSides() async throws {
        let container = try await PersistentContainer(model: .mail, store: .inMemory)
        let mail = try container.dataSource(TaggedSource.self)
        try await mail.perform { context in
            let tags = try (1...3).map { _ in try context.insert(MailTag.self) }
            for _ in 1...2 { try context.insert(MailMessage.self).tags = [tags[0], tags[1]] }
        }
        func weights() throws -> [Double?] { try mail.fetch(MailTag.self).map(\.weight) }
        #expect(try weights() == [2, 2, nil])
        try await mail.perform { context in
            let tags = try context.fetch(MailTag.self)
            let messages = try context.fetch(MailMessage.self)
            messages[0].tags = [tags[2], tags[1]]
            context.delete(messages[1])
        }
        #expect(try weights() == [0, 1, 1])
        try await container.close()
    }
}
