import CoreDataSource
import Foundation
import FrameworkNames
import TestSupport
import Testing

func openContacts(at url: URL) async throws -> PersistentContainer {
    do {
        return try await PersistentContainer(
            model: .contacts, store: .sqlite(url), configuration: .init(resetPolicy: .fail))
    } catch let error as DataSourceError where error.code == .modelChanged {
        let copy = url.appendingPathExtension("before")
        try await PersistentContainer.restore(url, to: copy, replacingStore: true)
        return try await PersistentContainer(
            model: .contacts, store: .sqlite(url), configuration: .init(resetPolicy: .migrate(otherwise: .fail)))
    }
}

func openOrExplain(_ url: URL) async throws -> PersistentContainer? {
    do {
        return try await PersistentContainer(
            model: .contacts, store: .sqlite(url), configuration: .init(resetPolicy: .migrate(otherwise: .fail)))
    } catch let error as DataSourceError where error.code == .modelChanged {
        print(error.cause ?? error.message)
        return nil
    }
}

/// The snippets about releases that change the model.
@MainActor
struct DeploymentSnippets {
    private let directory: TemporaryDirectory
    private var url: URL { directory.url.appending(component: "contacts.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The contacts' model as another release has it.
    private func model(_ change: (inout [AttributeDescription]) throws -> Void) throws -> ManagedObjectModel {
        var model = ManagedObjectModel.contacts
        let contact = try #require(model.entities.firstIndex { $0.name == "ContactEntity" })
        try change(&model.entities[contact].attributes)
        return model
    }

    private func open(
        _ model: ManagedObjectModel, _ url: URL, _ policy: ResetPolicy = .fail
    ) async throws -> PersistentContainer {
        try await PersistentContainer(
            model: model, store: .sqlite(url), configuration: .init(resetPolicy: policy))
    }

    /// Makes a store of another release with one contact.
    private func fill(_ model: ManagedObjectModel) async throws {
        let container = try await open(model, url)
        try await container.dataSource(ContactDataSource.self).add(Contact(uid: "1", name: "Guan Yu"))
        try await container.close()
    }

    @Test func aStoreIsCopiedBeforeItsMigration() async throws {
        let before = try model { $0.append(AttributeDescription(name: "email", type: .string, isOptional: true)) }
        try await fill(before)
        let container = try await openContacts(at: url)
        #expect(container.startup.migration?.rowsCarried == 1)
        #expect(try container.main.count(ContactEntity.self) == 1)
        try await container.close()
        let again = try await openContacts(at: url)
        #expect(again.startup.reason == .current)
        try await again.close()
        // The release before can open the copy.
        let copy = try await open(before, url.appendingPathExtension("before"))
        #expect(try copy.main.count(ContactEntity.self) == 1)
        try await copy.close()
    }

    @Test func rowsThatCannotBeCarriedOverStay() async throws {
        let before = try model { attributes in
            let note = try #require(attributes.firstIndex { $0.name == "note" })
            attributes[note].type = .date
        }
        try await fill(before)
        if let container = try await openOrExplain(url) {
            Issue.record("The store was migrated: \(container.startup)")
            try await container.close()
        }
        let old = try await open(before, url)
        #expect(try old.main.count(ContactEntity.self) == 1)
        try await old.close()
    }
}
