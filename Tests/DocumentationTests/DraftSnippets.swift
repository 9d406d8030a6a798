import CoreDataSource
import FrameworkNames
import Testing

/// The snippets about drafts.
@MainActor
struct DraftSnippets {
    private func withContact(
        _ body: @MainActor (EntityDataSource, GroupDataSource, ContactEntity) async throws -> Void
    ) async throws {
        try await withContacts { container, contacts in
            let groups = try container.dataSource(GroupDataSource.self)
            try await groups.add(Group(gid: "1", name: "Oath"))
            let contact = try #require(try contacts.fetch(ContactEntity.self, where: \.name == "Zhang Fei").first)
            try await body(contacts, groups, contact)
        }
    }

    @Test func aDraftIsSavedAsAWhole() async throws {
        try await withContact { contacts, _, contact in
            let draft = try contacts.draft(of: contact)
            draft.object.name = "Zhang Yide"
            draft.object.group = try draft.context.first(GroupEntity.self, where: \.gid == "1")
            try await draft.save()
            #expect(contact.name == "Zhang Yide" && contact.group?.name == "Oath")
        }
    }

    @Test func aDraftDeletesItsObject() async throws {
        try await withContact { contacts, _, contact in
            let draft = try contacts.draft(of: contact)
            try draft.context.delete(draft.object)
            try await draft.save()
            #expect(try contacts.count(ContactEntity.self) == 2)
        }
    }

    @Test func aDraftBeginsWithAnID() async throws {
        try await withContact { contacts, _, contact in
            let id = contact.objectID
            let draft = try contacts.draft(of: ContactEntity.self, id: id)
            draft.object.name = "Zhang Yide"
            try await draft.save()
            #expect(contact.name == "Zhang Yide")
        }
    }

    @Test func aDraftBeginsWithANewObject() async throws {
        try await withContact { contacts, groups, _ in
            let draft = try contacts.draft(inserting: ContactEntity.self)
            draft.object.uid = "5"
            let group = try draft.context.insert(GroupEntity.self)
            group.gid = "2"
            draft.object.group = group
            #expect(try groups.count(GroupEntity.self) == 1)
            draft.object.name = "Zhao Yun"
            group.name = "Generals"
            try await draft.save()
            #expect(try groups.count(GroupEntity.self) == 2)
        }
    }

    @Test func aPropertyIsCheckedAsOneTypes() async throws {
        try await withContact { contacts, _, contact in
            let draft = try contacts.draft(of: contact)
            draft.object.name = ""
            let messages = draft.errors(of: draft.object, \.name).map(\.message)
            #expect(messages.isEmpty)
            draft.object.uid = "1"
            #expect(draft.errors(of: draft.object, \.uid).map(\.code) == [.uniquenessViolated])
        }
    }

    @Test func aGroupOfEditsIsUndoneAndRedone() async throws {
        try await withContact { contacts, _, contact in
            let draft = try contacts.draft(of: contact)
            draft.undoGroup {
                draft.object.name = "Zhang Yide"
                draft.object.note = nil
            }
            draft.undo()
            if draft.canRedo { draft.redo() }
            #expect(draft.object.name == "Zhang Yide")
        }
    }

    @Test func aConflictIsDecided() async throws {
        try await withContact { contacts, _, contact in
            let draft = try contacts.draft(of: contact)
            draft.object.name = "mine"
            draft.object.note = "mine"
            try await contacts.update(
                ContactEntity.self, where: \.uid == contact.uid, set: [.set(\.name, "theirs"), .set(\.note, "theirs")])
            do {
                try await draft.save()
            } catch let error as DataSourceError where error.code == .draftConflict {
                for conflict in try draft.conflicts() {
                    print(conflict, conflict.mine ?? "nil", conflict.theirs ?? "nil")
                }
                let report = try await draft.save(resolving: .each { $0.propertyName == "note" ? .mine : .theirs })
                print(report.conflicts.count, report.merged.count)
            }
            #expect(contact.name == "theirs" && contact.note == "mine")
        }
    }

    @Test func theDocumentedCallsCompile() async throws {
        try await withContact { contacts, _, contact in
            let draft = try contacts.draft(of: contact)
            draft.object.name = "Zhang Yide"
            if draft.errors(of: draft.object, \.name).isEmpty { try await draft.save() }
            draft.object.note = "mine"
            try await draft.save(resolving: .each { $0.propertyName == "note" ? .mine : .theirs })
            #expect(contact.note == "mine")
        }
    }
}
