import CoreDataSource
import Foundation
import FrameworkNames
import Testing

@StoredEntity final class ShelfEntity: ManagedObject {
    @Stored(unique: true) var name: String
    @Stored(derived: "books.@count") var bookCount: Int64
    @Stored(derived: "books.@max.readAt") var lastRead: Date?
    @Related(inverse: "shelf") var books: RelatedObjects<BookEntity>
}

@StoredEntity final class BookEntity: ManagedObject {
    @Stored(unique: true) var isbn: String
    var title: String = ""
    @Stored(indexed: true, derived: "canonical:(title)") var search: String?
    @Stored(derived: "now()") var changedAt: Date?
    var readAt: Date?
    @Stored(derived: "shelf.name") var shelfName: String?
    @Related var shelf: ShelfEntity?
}

extension ManagedObjectModel {
    fileprivate static let shelves = ManagedObjectModel("Shelves") {
        ShelfEntity.self
        BookEntity.self
    }
}

private final class LibraryDataSource: EntityDataSource {
    nonisolated override class var entities: [ManagedObject.Type] { [ShelfEntity.self, BookEntity.self] }
}

/// The snippets about derived attributes.
@MainActor
struct DerivedSnippets {
    /// Two shelves: `a` with two books, of which one was read, and `b` with one.
    private func withLibrary(_ body: @MainActor (LibraryDataSource) async throws -> Void) async throws {
        let container = try await PersistentContainer(model: .shelves, store: .inMemory)
        let library = try container.dataSource(LibraryDataSource.self)
        try await library.perform { context in
            for (isbn, title, name) in [("1", "Éclair", "a"), ("2", "Tarte", "a"), ("3", "Flan", "b")] {
                let shelf = try context.findOrInsert(ShelfEntity.self, where: \.name, equals: name)
                let book = try context.insert(BookEntity.self)
                book.isbn = isbn
                book.title = title
                book.shelf = shelf
                if isbn == "1" { book.readAt = Date(timeIntervalSinceReferenceDate: 1) }
            }
        }
        try await body(library)
        try await container.close()
    }

    @Test func aDerivedStringIsSearched() async throws {
        try await withLibrary { library in
            let found = try library.fetch(BookEntity.self, where: \.search == "eclair")
            #expect(found.map(\.isbn) == ["1"])
            #expect(found.map(\.changedAt) != [nil])
            try await library.perform { context in
                let book = try #require(try context.first(BookEntity.self, where: \.isbn, equals: "1"))
                book.title = "Crème"
                #expect(book.search == "eclair")
                #expect(try context.count(BookEntity.self, where: \.search == "creme") == 0)
            }
            #expect(try library.count(BookEntity.self, where: \.search == "creme") == 1)
        }
    }

    @Test func aTypedStringIsSearched() async throws {
        try await withLibrary { library in
            let typed = "ÉCLAIR"
            let equal = try library.fetch(
                BookEntity.self,
                where: .equal(\.search, typed, [.caseInsensitive, .diacriticInsensitive]))
            let formatted = try library.fetch(
                BookEntity.self,
                where: FetchPredicate(format: "search == canonical(%@)", typed))
            #expect(equal.map(\.isbn) == ["1"])
            #expect(formatted.map(\.isbn) == ["1"])
        }
    }

    @Test func aShelfIsFoundByWhatIsOnIt() async throws {
        try await withLibrary { library in
            let full = try library.fetch(
                ShelfEntity.self, where: \.bookCount > 1, order: [.descending(\.lastRead)])
            #expect(full.map(\.name) == ["a"])
            #expect(full.map(\.lastRead) == [Date(timeIntervalSinceReferenceDate: 1)])
            let names = try library.fetch(BookEntity.self, order: [.ascending(\.isbn)]).map(\.shelfName)
            #expect(names == ["a", "a", "b"])
        }
    }
}
