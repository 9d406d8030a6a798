import CoreDataSource
import Foundation
import RowStore
import Synchronization

/// Shelves with a hook that a test sets.
final class ScriptedShelves: ShelfSource, SaveCompleting {
    let script = LibraryScript()

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for shelf in try changes.owners(of: \Rack.books) {
            shelf.bookCount = Int64(shelf.books.count)
            shelf.readCount = Int64(shelf.books.count { $0.isRead })
        }
        for book in try changes.owners(of: \Volume.tags) { book.tagCount = Int64(book.tags.count) }
        try script.run(changes, context)
    }
}

/// Loans with a hook that a test sets.
final class ScriptedLoans: LoanSource, SaveCompleting {
    let script = LibraryScript()

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try script.run(changes, context)
    }
}

/// What a hook does.
final class LibraryScript: Sendable {
    typealias Hook = @Sendable (PendingChanges, PrivateContext) throws -> Void

    private let hook = Mutex<Hook>({ _, _ in })

    func set(_ new: @escaping Hook) { hook.withLock { $0 = new } }

    func run(_ changes: PendingChanges, _ context: PrivateContext) throws {
        let hook = hook.withLock { $0 }
        try hook(changes, context)
    }
}
