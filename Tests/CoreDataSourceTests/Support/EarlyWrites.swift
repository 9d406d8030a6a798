import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// Waits until that many rows are written early.
func waitForRows(_ count: Int, _ container: PersistentContainer, _ store: SQLiteStore) {
    var turns = 0
    while store.earlyRows < count, turns < 100_000 {
        container.stack.root.waitForQueue()
        turns += 1
    }
    #expect(store.earlyRows >= count)
}

/// Opens a container whose timers run when the test says so: on a slow machine rows stand still for long.
@MainActor
func withTimedContainer(
    _ scheduling: WorkScheduling? = nil, isShared: Bool = false,
    _ body: @MainActor (PersistentContainer, SQLiteStore, ManualTimers, URL) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let layout = ModelLayout(.contacts)
    var options = SQLiteStore.Options(
        url: directory.store, layout: layout, identity: StoreIdentity(.contacts))
    options.isShared = isShared
    let store = try SQLiteStore.open(options)
    let timers = ManualTimers()
    let container = PersistentContainer(
        layout, store, startup: store.startup, configuration: .init(), scheduling: scheduling ?? timers.scheduling)
    try await body(container, store, timers, directory.store)
    try await container.close()
    try expectIntact(directory.store)
}

/// A contact, and what its hook does first.
struct PausingContact: Sendable {
    var data: ContactData
    var pause: (@Sendable () throws -> Void)?
}

/// Contacts of which the one before the last does something first.
func pausing(_ count: Int, _ pause: @escaping @Sendable () throws -> Void) -> [PausingContact] {
    contactList(0..<count).enumerated().map { index, data in
        PausingContact(data: data, pause: index == count - 2 ? pause : nil)
    }
}

final class PausingSource: DataSource<PausingContact> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    override func onAdd(_ value: PausingContact, in context: PrivateContext) throws -> ManagedObject? {
        try value.pause?()
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: value.data.uid)
        (contact.name, contact.phone) = (value.data.name, value.data.phone)
        return contact
    }
}
