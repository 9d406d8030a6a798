import CoreDataSource
import Foundation
import FrameworkNames
import Synchronization
import Testing

/// The examples of following the saves.
@MainActor
struct SavesSnippets {
    /// A search index of an app.
    private final class Index: Sendable {
        private let names = Mutex<[ManagedObjectID: String]>([:])

        func update(_ id: ManagedObjectID, _ name: String?) { names.withLock { $0[id] = name } }
        func rebuild(_ entityNames: Set<String>?) {}
        var all: Set<String> { names.withLock { Set($0.values) } }
    }

    @Test func anIndexFollowsTheSaves() async throws {
        let index = Index()
        var loop: Task<Void, any Error>?
        try await withContacts { container, contacts in
            loop = Task {
                for await event in container.saves {
                    switch event {
                    case .save(let save):
                        for change in try save.changes(of: ContactEntity.self) {
                            index.update(change.id, change.new?.name)
                        }
                    case .unknown(let changes): index.rebuild(changes.entityNames)
                    }
                }
            }
            while !container.stack.root.saves.isListening { await Task.yield() }
            try await contacts.add([Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")])
            try await contacts.delete([Contact(uid: "1", name: "")])
        }
        try await loop?.value
        #expect(index.all == ["Zhang Fei"])
    }

    @Test func theChangesOfOneSaveArePrinted() async throws {
        try await withContacts { container, contacts in
            let sequence = container.saves
            var iterator = sequence.makeAsyncIterator()
            try await contacts.add([Contact(uid: "1", name: "Guan Yu")])
            if case .save(let save) = await iterator.next() { print(save.entityNames) }
            try await contacts.add([Contact(uid: "1", name: "Guan Yunchang")])
            guard case .save(let save) = await iterator.next() else { return }
            for change in try save.changes(of: ContactEntity.self)
            where change.changedProperties.contains("name") {
                print(change.old?.name ?? "-", change.new?.name ?? "-")
            }
            #expect(save.description == "0 inserted, 1 updated, 0 deleted")
        }
        try await withContacts { container, _ in
            let loop = Task {
                for await case .save(let save) in container.saves where save.author != "sync" {
                    print(save.author ?? "-", save.dataSourceName ?? "-", save.entityNames)
                }
            }
            loop.cancel()
            await loop.value
            print(container.storeURL?.path ?? "in memory")
            var configuration = PersistentContainer.Configuration()
            configuration.name = "widget"
            #expect(container.name == nil && configuration.name == "widget")
        }
        try await withContacts { container, _ in
            let loop = Task {
                for await event in container.saves {
                    switch event {
                    case .save(let save):
                        for change in try save.changes(of: ContactEntity.self) {
                            print(change.kind, change.id)
                        }
                    case .unknown(let changes):
                        // Nil means all entities.
                        print("read again:", changes.entityNames ?? ["everything"])
                    }
                }
            }
            loop.cancel()
            try await loop.value
        }
        try await withContacts { container, _ in
            var iterator = container.saves.makeAsyncIterator()
            try await container.reset()
            let first = await iterator.next()
            let index = Index()
            guard case .unknown(let changes) = first else { return }
            func reloadContacts() throws { index.rebuild(nil) }
            if changes.mayInclude(ContactEntity.self) {
                index.rebuild(changes.entityNames)
            }
            if changes.mayInclude(ContactEntity.self) { try reloadContacts() }
            let reason = UnknownChanges.Reason(rawValue: "missed")
            #expect(reason == .missed && changes.reason == .reset)
        }
    }
}
