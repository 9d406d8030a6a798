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
                for await event in container.saves {
                    switch event {
                    case .save(let save):
                        for change in try save.changes(of: ContactEntity.self) {
                            print(change.kind, change.id)
                        }
                    case .unknown(let changes):
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
            if changes.entityNames?.contains("ContactEntity") ?? true {
                index.rebuild(changes.entityNames)
            }
            let reason = UnknownChanges.Reason(rawValue: "missed")
            #expect(reason == .missed && changes.reason == .reset)
        }
    }
}
