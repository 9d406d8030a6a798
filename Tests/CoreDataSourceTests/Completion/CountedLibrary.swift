import CoreDataSource
import Synchronization
import Testing

/// Makes hooks throw.
final class Saboteur: Sendable {
    private let callsLeft = Mutex<Int?>(nil)

    /// Makes a later call of a hook throw.
    func arm(after calls: Int?) { callsLeft.withLock { $0 = calls } }

    func check() throws {
        let throwsNow = callsLeft.withLock { left in
            guard let calls = left else { return false }
            left = calls - 1
            return calls == 0
        }
        if throwsNow { throw Poison() }
    }
}

/// Keeps the counts of shelves and books. Empty shelves whose keys begin with "auto" are deleted.
final class CountedShelves: ShelfSource, SaveCompleting {
    let saboteur = Saboteur()

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try saboteur.check()
        var shelves = try changes.owners(of: \Rack.books)
        for change in try changes.of(Volume.self) where change.kind != .delete && change.changes(\.isRead) {
            if let shelf = change.object.shelf { shelves.append(shelf) }
        }
        for shelf in shelves {
            shelf.bookCount = Int64(shelf.books.count)
            shelf.readCount = Int64(shelf.books.count { $0.isRead })
        }
        for book in try changes.owners(of: \Volume.tags) { book.tagCount = Int64(book.tags.count) }
        for shelf in Set(shelves) where shelf.key.hasPrefix("auto") && shelf.books.isEmpty { context.delete(shelf) }
    }
}

final class CountedTags: TagSource, SaveCompleting {
    let saboteur = Saboteur()

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try saboteur.check()
        for tag in try changes.owners(of: \Tag.books) { tag.bookCount = Int64(tag.books.count) }
    }
}

/// Gives each loan a day, and deletes days without loans. A loan whose key begins with "wants" gets a book.
final class CountedLoans: LoanSource, SaveCompleting {
    let saboteur = Saboteur()

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try saboteur.check()
        for change in try changes.of(Loan.self) where change.kind != .delete {
            let loan = change.object
            if loan.book == nil, loan.key.hasPrefix("wants") {
                loan.book = try context.first(Volume.self, order: [.ascending(\.key)])
            }
            loan.bookKey = loan.book?.key ?? ""
            if loan.day == nil { loan.day = try context.findOrInsert(Day.self, where: \.key, equals: "some day") }
        }
        // The batch may have given a new day to a loan, and then another day.
        let newDays = try changes.of(Day.self).filter { $0.kind == .insert }.map(\.object)
        for day in Set(try changes.owners(of: \Day.loans) + newDays) {
            day.loanCount = Int64(day.loans.count)
            if day.loans.isEmpty { context.delete(day) }
        }
    }
}

/// Keeps the numbers of children and of all descendants.
final class CountedNodes: NodeSource, SaveCompleting {
    let saboteur = Saboteur()

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try saboteur.check()
        let parents = try changes.owners(of: \Node.children)
        let nodes = try changes.of(Node.self).filter { $0.kind != .delete }.map(\.object)
        for parent in parents { parent.childCount = Int64(parent.children.count) }
        for start in parents + nodes {
            var next: Node? = start
            while let node = next {
                node.total = node.children.reduce(1) { $0 + $1.total }
                next = node.parent
            }
        }
        for node in nodes { node.hasBook = node.book != nil }
    }
}

extension ManagedObjectContext {
    /// What is wrong with the values that hooks keep.
    func libraryFaults() throws -> [String] {
        var faults: [String] = []
        func expect(_ key: String, _ kept: Int64, _ counted: Int) {
            if kept != counted { faults.append("\(key) has \(counted), and kept \(kept)") }
        }
        let books = try fetch(Volume.self)
        for shelf in try fetch(Rack.self) {
            let own = books.filter { $0.shelf === shelf }
            expect("books of shelf \(shelf.key)", shelf.bookCount, own.count)
            expect("read books of shelf \(shelf.key)", shelf.readCount, own.count { $0.isRead })
        }
        for book in books { expect("tags of book \(book.key)", book.tagCount, book.tags.ids.count) }
        for tag in try fetch(Tag.self) {
            expect("books of tag \(tag.key)", tag.bookCount, books.count { $0.tags.contains(tag) })
        }
        let loans = try fetch(Loan.self)
        for day in try fetch(Day.self) {
            let count = loans.count { $0.day === day }
            expect("loans of day \(day.key)", day.loanCount, count)
            if count == 0 { faults.append("day \(day.key) is empty") }
        }
        for loan in loans {
            if loan.day == nil { faults.append("loan \(loan.key) has no day") }
            if loan.bookKey != loan.book?.key ?? "" { faults.append("loan \(loan.key) kept \(loan.bookKey)") }
        }
        let nodes = try fetch(Node.self)
        for node in nodes {
            expect("children of node \(node.key)", node.childCount, nodes.count { $0.parent === node })
            let descendants = nodes.count { other in
                sequence(first: other, next: \.parent).contains { $0 === node }
            }
            expect("descendants of node \(node.key)", node.total, descendants)
            if node.hasBook != (node.book != nil) { faults.append("node \(node.key) kept \(node.hasBook)") }
        }
        return faults
    }

    /// The objects and links that no hook changes.
    func libraryText() throws -> [String] {
        var lines: [String] = []
        for shelf in try fetch(Rack.self) where !shelf.key.hasPrefix("auto") { lines.append("shelf \(shelf.key)") }
        for book in try fetch(Volume.self) {
            let tags = book.tags.map(\.key).sorted().joined(separator: " ")
            lines.append("book \(book.key) \(book.title) \(book.isRead) on \(book.shelf?.key ?? "-"): \(tags)")
        }
        for tag in try fetch(Tag.self) { lines.append("tag \(tag.key) \(tag.name)") }
        for loan in try fetch(Loan.self) where !loan.key.hasPrefix("wants") {
            lines.append("loan \(loan.key) of \(loan.book?.key ?? "-")")
        }
        for node in try fetch(Node.self) {
            lines.append("node \(node.key) in \(node.parent?.key ?? "-") with \(node.book?.key ?? "-")")
        }
        for hold in try fetch(Hold.self) { lines.append("hold \(hold.key) of \(hold.book?.key ?? "-")") }
        return lines.sorted()
    }
}

extension PersistentContainer {
    /// What is wrong with the values that hooks keep, in the store and on main.
    @MainActor func libraryFaults() async throws -> [String] {
        try await read { try $0.libraryFaults() } + main.libraryFaults().map { "main: \($0)" }
    }
}
