import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Lists that a sync must not take at their word.
@MainActor
struct SyncGuardTests {
    /// A list of which the hook knows nothing is as good as empty; it emptied the store.
    @Test func aListOfIgnoredValuesIsAnEmptyOne() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.sync(contactList(0..<3), entity: ContactEntity.self)
            for isPlan in [true, false] {
                await expectError(.emptySync) {
                    if isPlan {
                        _ = try await contacts.planSync([1, 2, 3], entity: ContactEntity.self)
                    } else {
                        try await contacts.sync([1, 2, 3], entity: ContactEntity.self)
                    }
                }
            }
            #expect(try contacts.count(ContactEntity.self) == 3)
            let kept = try await contacts.sync([1, 2, 3], entity: ContactEntity.self, options: .allowsEmpty)
            #expect(kept.deleted == 0 && kept.kept == 3 && kept.ignored == 3)
            let report = try await contacts.sync(
                [1, 2, 3], entity: ContactEntity.self, options: [.allowsEmpty, .allowsIgnoredValues])
            #expect(report.deleted == 3 && report.kept == 0 && report.ignored == 3)
        }
    }

    private final class Note: ManagedObject {
        override class var entityName: String { "Note" }
    }

    private final class Notes: DataSource<any Sendable> {
        override class var entities: [ManagedObject.Type] { [Note.self] }

        override func onAdd(_ object: any Sendable, in context: PrivateContext) throws -> ManagedObject? {
            try context.insert(Note.self)
        }
    }

    /// A number was written into the text, which then read as something out of the row's own bookkeeping.
    @Test(arguments: [AttributeType.string, .double, .decimal, .integer16, .integer64, .boolean])
    func aSyncFlagIsAnIntegerOrABoolean(type: AttributeType) async throws {
        var model = ManagedObjectModel(
            name: "Notes",
            entities: [
                EntityDescription(
                    name: "Note", attributes: [AttributeDescription(name: "syncFlag", type: type, isOptional: true)])
            ])
        model.classes = ["Note": Note.self]
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let notes = try container.dataSource(Notes.self)
        try await notes.sync([1], entity: Note.self)
        let note = try #require(try container.main.first(Note.self))
        let isFlag = [.integer16, .integer64, .boolean].contains(type)
        #expect(note.isNil(at: 0) == !isFlag)
        if isFlag {
            let value: Int64 = note.attribute(at: 0)
            #expect(value == 1)
        }
        try await container.close()
    }
}
