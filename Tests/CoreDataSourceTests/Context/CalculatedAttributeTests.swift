import CoreDataSource
import ErrorExpectations
import Foundation
import ManagedModel
import TestSupport
import Testing

private final class Shelf: ManagedObject {
    override class var entityName: String { "Shelf" }
    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Shelf.bookCount: "bookCount", \Shelf.firstRead: "firstRead", \Shelf.meanRating: "meanRating",
            \Shelf.name: "name", \Shelf.pages: "pages",
        ]
    }
    override class var relationshipKeyPaths: [AnyKeyPath: String] { [\Shelf.books: "books", \Shelf.hall: "hall"] }

    var bookCount: Int64 { calculatedAttribute(at: 0) }
    var firstRead: Date? { calculatedAttribute(at: 1) }
    var meanRating: Double { calculatedAttribute(at: 2) }
    var name: String {
        get { attribute(at: 3) }
        set { setAttribute(newValue, at: 3) }
    }
    var pages: Int64 { calculatedAttribute(at: 4) }
    var books: RelatedObjects<Book> { relatedObjects(at: 0) }
    var hall: Hall? {
        get { relatedObject(at: 1) }
        set { setRelatedObject(newValue, at: 1) }
    }
}

private final class Hall: ManagedObject {
    override class var entityName: String { "Hall" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\Hall.name: "name"] }

    var name: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
}

private final class Book: ManagedObject {
    override class var entityName: String { "Book" }
    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Book.pages: "pages", \Book.rating: "rating", \Book.readAt: "readAt", \Book.hallName: "hallName",
            \Book.shelfName: "shelfName", \Book.title: "title",
        ]
    }
    override class var relationshipKeyPaths: [AnyKeyPath: String] { [\Book.shelf: "shelf"] }

    var pages: Int64 {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
    var rating: Int64 {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }
    var readAt: Date? {
        get { attribute(at: 2) }
        set { setAttribute(newValue, at: 2) }
    }
    var hallName: String? { calculatedAttribute(at: 3) }
    var shelfName: String? { calculatedAttribute(at: 4) }
    var title: String {
        get { attribute(at: 5) }
        set { setAttribute(newValue, at: 5) }
    }
    var shelf: Shelf? {
        get { relatedObject(at: 0) }
        set { setRelatedObject(newValue, at: 0) }
    }
}

/// Attributes that are derived from other objects are calculated when they are read, wherever that is.
@MainActor
struct CalculatedAttributeTests {
    static let model = ManagedObjectModel(
        name: "Library",
        entities: [
            EntityDescription(
                name: "Shelf",
                attributes: [
                    derived("bookCount", .integer64, "books.@count"), derived("firstRead", .date, "min:(books.readAt)"),
                    derived("meanRating", .double, "books.@avg.rating"),
                    AttributeDescription(name: "name", type: .string, isOptional: true),
                    derived("pages", .integer64, "sum:(books.pages)"),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "books", destinationName: "Book", inverseName: "shelf", isToMany: true, isOptional: true),
                    RelationshipDescription(name: "hall", destinationName: "Hall", isOptional: true),
                ]),
            EntityDescription(
                name: "Hall", attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)]),
            EntityDescription(
                name: "Book",
                attributes: [
                    AttributeDescription(name: "pages", type: .integer64, isOptional: true),
                    AttributeDescription(name: "rating", type: .integer64, isOptional: true),
                    AttributeDescription(name: "readAt", type: .date, isOptional: true),
                    derived("hallName", .string, "shelf.hall.name"), derived("shelfName", .string, "shelf.name"),
                    AttributeDescription(name: "title", type: .string, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "shelf", destinationName: "Shelf", inverseName: "books", isOptional: true)
                ]),
        ])

    private static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDescription {
        // A count that is required has a value all the same.
        AttributeDescription(name: name, type: type, isOptional: name != "bookCount", derivationExpression: expression)
    }

    /// Two shelves: `a` with two books, `b` with one.
    private func withLibrary(
        _ body: @MainActor (PersistentContainer, PlainDataSource<Shelf, Book, Hall>) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        for location in [StoreLocation.sqlite(directory.store), .inMemory] {
            let container = try await PersistentContainer(model: Self.model, store: location)
            let library = try container.dataSource(PlainDataSource<Shelf, Book, Hall>.self)
            try await fill(library)
            try await body(container, library)
            try await container.close()
        }
    }

    private func fill(_ library: PlainDataSource<Shelf, Book, Hall>) async throws {
        try await library.perform(waitFor: .main) { context in
            let hall = try context.insert(Hall.self)
            hall.name = "hall"
            for name in ["a", "b", "c"] {
                let shelf = try context.insert(Shelf.self)
                (shelf.name, shelf.hall) = (name, hall)
            }
            for (number, shelf) in ["a", "a", "b"].enumerated() {
                let book = try context.insert(Book.self)
                book.title = "\(number)"
                book.pages = Int64(number + 1) * 100
                book.rating = Int64(number)
                book.readAt = Date(timeIntervalSinceReferenceDate: Double(10 - number))
                book.shelf = try context.first(Shelf.self, where: \.name == shelf)
            }
        }
    }

    @Test func everyContextReadsCalculatedAttributes() async throws {
        try await withLibrary { container, library in
            let a = try #require(try container.main.first(Shelf.self, where: \.name == "a"))
            let c = try #require(try container.main.first(Shelf.self, where: \.name == "c"))
            #expect(a.bookCount == 2 && a.pages == 300 && a.meanRating == 0.5)
            #expect(a.firstRead == Date(timeIntervalSinceReferenceDate: 9))
            #expect(c.bookCount == 0 && c.pages == 0 && c.meanRating == 0 && c.firstRead == nil)
            let names = try container.main.fetch(Book.self, order: [.ascending(\.title)]).map(\.shelfName)
            #expect(names == ["a", "a", "b"])
            #expect(try await container.read { try $0.fetch(Shelf.self).map(\.bookCount).sorted() } == [0, 1, 2])
            // Of what is not saved yet, too.
            try await library.perform(waitFor: .main) { context in
                let shelf = try #require(try context.first(Shelf.self, where: \.name == "c"))
                let book = try context.insert(Book.self)
                book.shelf = shelf
                book.pages = 7
                #expect(shelf.bookCount == 1 && shelf.pages == 7 && book.shelfName == "c")
                shelf.name = "d"
                #expect(book.shelfName == "d")
                #expect(try context.count(Shelf.self, where: \.bookCount == 1) == 2)
            }
            #expect(c.bookCount == 1 && c.pages == 7)
            #expect(try container.main.first(Book.self, where: \.pages == 7)?.shelfName == "d")
        }
    }

    @Test func queriesUseCalculatedAttributes() async throws {
        try await withLibrary { container, _ in
            let main = container.main
            #expect(try main.fetch(Shelf.self, where: \.bookCount > 1).map(\.name) == ["a"])
            #expect(
                try main.fetch(Shelf.self, where: FetchPredicate(#Predicate { $0.bookCount == 0 })).map(\.name) == ["c"]
            )
            #expect(try main.fetch(Shelf.self, where: FetchPredicate(format: "pages >= 300")).count == 2)
            #expect(try main.fetch(Book.self, where: \.shelfName == "a").count == 2)
            #expect(try main.fetch(Book.self, where: FetchPredicate(format: "shelfName.length == 1")).count == 3)
            #expect(try main.fetch(Shelf.self, where: FetchPredicate(format: "ANY books.shelfName == 'b'")).count == 1)
            let byCount = try main.fetch(Shelf.self, order: [.descending(\.bookCount)]).map(\.name)
            #expect(byCount == ["a", "b", "c"])
            let values = try main.values(
                ObjectRequest<Shelf>(order: [.ascending(\.name)]), \.name, \.bookCount, \.pages, \.firstRead)
            #expect(values.map(\.1) == [2, 1, 0] && values.map(\.2) == [300, 300, 0])
            #expect(values.map { $0.3 == nil } == [false, false, true])
            let most: Int64? = try main.aggregate(ObjectRequest<Shelf>(), .max(\.bookCount))
            #expect(most == 2)
        }
    }

    @Test func listsFollowCountsOfRelatedObjects() async throws {
        try await withLibrary { container, library in
            let plain = GroupRecorder()
            let filtered = GroupRecorder()
            try library.register(plain, dataKey: "plain", ObjectRequest(Shelf.self, order: [.ascending(\.name)]))
            try library.register(
                filtered, dataKey: "filtered",
                ObjectRequest(Shelf.self, where: \.bookCount > 1, order: [.descending(\.bookCount)]))
            #expect(library.allObjects(dataKey: "filtered", as: Shelf.self).map(\.name) == ["a"])
            try await library.perform(waitFor: .main) { context in
                try context.first(Book.self, where: \.title == "0")?.shelf = context.first(
                    Shelf.self, where: \.name == "b")
            }
            await container.mainTier.waitForLists()
            #expect(library.allObjects(dataKey: "filtered", as: Shelf.self).map(\.name) == ["b"])
            let updated = plain.takeGroups().flatMap { $0 }
            #expect(updated.allSatisfy { $0.type == .update })
            #expect(updated.compactMap { ($0.object as? Shelf)?.name }.sorted() == ["a", "b"])
            #expect(updated.compactMap { ($0.object as? Shelf)?.bookCount }.sorted() == [1, 2])
            #expect(plain.problems + filtered.problems == [])
        }
    }

    /// A value at the end of a path is followed where the list depends on it.
    @Test func listsFollowThePathsInTheirRequest() async throws {
        try await withLibrary { container, library in
            let plain = GroupRecorder()
            let ordered = GroupRecorder()
            try library.register(plain, dataKey: "plain", ObjectRequest(Book.self, order: [.ascending(\.title)]))
            try library.register(
                ordered, dataKey: "ordered",
                ObjectRequest(Book.self, order: [.ascending(\.shelfName), .ascending(\.title)]))
            #expect(library.allObjects(dataKey: "ordered", as: Book.self).map(\.title) == ["0", "1", "2"])
            try await library.perform(waitFor: .main) { try $0.first(Shelf.self, where: \.name == "a")?.name = "z" }
            await container.mainTier.waitForLists()
            #expect(library.allObjects(dataKey: "ordered", as: Book.self).map(\.title) == ["2", "0", "1"])
            #expect(plain.takeGroups().isEmpty)
            #expect(library.allObjects(dataKey: "plain", as: Book.self).map(\.shelfName) == ["z", "z", "b"])
            #expect(plain.problems + ordered.problems == [])
        }
    }

    /// One for each relationship of a path, however many objects were fetched together; an aggregate of attributes is one for each.
    @Test func eachRelationshipOfAPathCostsOneQuery() async throws {
        let directory = try TemporaryDirectory()
        let first = try await PersistentContainer(model: Self.model, store: .sqlite(directory.store))
        try await fill(first.dataSource(PlainDataSource<Shelf, Book, Hall>.self))
        try await first.close()
        let container = try await PersistentContainer(model: Self.model, store: .sqlite(directory.store))
        func reading<Value: Sendable>(
            _ body: @escaping @Sendable (ReadContext) throws -> Value
        ) async throws -> (value: Value, statements: Int) {
            let before = container.statementCount
            let value = try await container.read { try body($0) }
            return (value, container.statementCount - before)
        }
        let shelves = try await reading { try $0.fetch(Shelf.self).map(\.name).sorted() }
        let books = try await reading { try $0.fetch(Book.self).map(\.title).sorted() }
        #expect(shelves.value == ["a", "b", "c"] && books.value == ["0", "1", "2"])
        let counts = try await reading { try $0.fetch(Shelf.self).map(\.bookCount).sorted() }
        #expect(counts.value == [0, 1, 2] && counts.statements == shelves.statements + 1)
        let names = try await reading { try $0.fetch(Book.self).map { $0.shelfName ?? "" }.sorted() }
        #expect(names.value == ["a", "a", "b"] && names.statements == books.statements + 1)
        let halls = try await reading { try $0.fetch(Book.self).map { $0.hallName ?? "" } }
        #expect(halls.value == ["hall", "hall", "hall"] && halls.statements == books.statements + 2)
        let pages = try await reading { try $0.fetch(Shelf.self).map(\.pages).sorted() }
        #expect(pages.value == [0, 300, 300] && pages.statements == shelves.statements + 3)
        try await container.close()
    }

    @Test func calculatedAttributesAreNotStored() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: Self.model, store: .sqlite(directory.store))
        try await fill(container.dataSource(PlainDataSource<Shelf, Book, Hall>.self))
        try await container.close()
        let raw = try RawConnection(directory.store)
        #expect(try raw.column("SELECT count(name) FROM Shelf") == ["3"])
        for name in ["bookCount", "firstRead", "meanRating", "pages"] {
            #expect(try raw.column("SELECT count(\(name)) FROM Shelf") == ["0"], "\(name)")
        }
        for name in ["hallName", "shelfName"] {
            #expect(try raw.column("SELECT count(\(name)) FROM Book") == ["0"], "\(name)")
        }
    }

    @Test func draftsShowCalculatedAttributes() async throws {
        try await withLibrary { container, library in
            let shelf = try #require(try container.main.first(Shelf.self, where: \.name == "c"))
            let draft = try library.draft(of: shelf)
            let book = try draft.context.insert(Book.self)
            book.pages = 5
            draft.object.books.insert(book)
            #expect(draft.object.bookCount == 1 && draft.object.pages == 5 && shelf.bookCount == 0)
            try await draft.save()
            #expect(shelf.bookCount == 1)
        }
    }

    @Test func anAccessorOfStoredValuesTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: CalculatedAttributeTests.model, store: .inMemory)
            let library = try await MainActor.run { try container.dataSource(PlainDataSource<Shelf, Book, Hall>.self) }
            try await library.perform { context in
                let shelf = try context.insert(Shelf.self)
                let count: Int64? = shelf.attribute(at: 0)
                print(count ?? 0)
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "bookCount, which is derived from books.@count and not stored. Read the attribute with calculatedAttribute(at:)."
            ))
    }

    /// A row of a snapshot has no other objects, and a count of 0 would be a lie.
    @Test func readingACalculatedAttributeOfASnapshotRowTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: CalculatedAttributeTests.model, store: .inMemory)
            let library = try await MainActor.run { try container.dataSource(PlainDataSource<Shelf, Book, Hall>.self) }
            try await library.perform { try $0.insert(Shelf.self).name = "a" }
            for await update in library.updates(ObjectRequest(Shelf.self)) {
                guard let row = update.snapshot.first else { continue }
                precondition(row.name == "a")
                print(row.bookCount)
                break
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "Shelf.bookCount is derived from books.@count, which a row of a snapshot does not have."))
    }

    /// No related object would be a lie, too: the row cannot know.
    @Test func readingARelationshipOfASnapshotRowTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: CalculatedAttributeTests.model, store: .inMemory)
            let library = try await MainActor.run { try container.dataSource(PlainDataSource<Shelf, Book, Hall>.self) }
            try await library.perform { context in
                let book = try context.insert(Book.self)
                book.shelf = try context.insert(Shelf.self)
            }
            for await update in library.updates(ObjectRequest(Book.self)) {
                guard let row = update.snapshot.first else { continue }
                print(row.map { $0.shelf?.name ?? "none" })
                break
            }
        }
        #expect(
            try #require(result).standardErrorString.contains(
                "Book.shelf was read from a row, which has no related objects. Read the relationship from the object that the main context has for the row's id, or read its attributes with values(_:_:)."
            ))
    }

    @Test func aCalculatedAttributeCannotBeLookedUp() async throws {
        try await withLibrary { container, _ in
            expectError(.unknownAttribute) {
                try container.main.first(Shelf.self, where: \.bookCount, equals: 2)
            }
        }
    }
}
