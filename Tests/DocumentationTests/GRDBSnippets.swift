import CoreDataSource
import Foundation
import TestSupport
import Testing

@StoredEntity final class Author: ManagedObject {
    @Stored(unique: true) var id: Int64
    var name: String
    @Related(inverse: "author", onDelete: .cascade)
    var books: RelatedObjects<Book>
}

@StoredEntity final class Book: ManagedObject {
    @Stored(unique: true) var id: Int64
    var title: String
    var isRead: Bool = false
    @Related var author: Author?
}

nonisolated extension ManagedObjectModel {
    static let books = ManagedObjectModel("Books") {
        Author.self
        Book.self
    }
}

final class BookDataSource: DataSource<Never> {
    nonisolated override class var entities: [ManagedObject.Type] {
        [Author.self, Book.self]
    }
}

/// The code that ComingFromGRDB shows in both libraries.
@MainActor
struct GRDBSnippets {
    /// The JSON that the command of the article prints for ``database``.
    private static let json = """
        {"Author": [{"id": 1, "name": "Ursula"}, {"id": 7, "name": "Ann"}],
         "Book": [{"id": 1, "title": "C", "author": 7, "isRead": false},
                  {"id": 2, "title": "A", "author": 7, "isRead": false},
                  {"id": 3, "title": "B", "author": null, "isRead": true}]}
        """

    private static let database = """
        CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, isRead BOOLEAN NOT NULL,
            authorId INTEGER REFERENCES author(id));
        INSERT INTO author VALUES (1, 'Ursula'), (7, 'Ann');
        INSERT INTO book VALUES (1, 'C', 0, 7), (2, 'A', 0, 7), (3, 'B', 1, NULL);
        """

    @Test func theCallsOfGRDBAreWrittenHere() async throws {
        let container = try await PersistentContainer(model: .books, store: .inMemory)
        let books = try container.dataSource(BookDataSource.self)
        try await container.importGraph(ObjectGraph(json: Data(Self.json.utf8)))

        let unread = try books.fetch(
            Book.self, where: !\.isRead, order: [.ascending(\.title)])
        #expect(unread.map(\.title) == ["A", "C"])

        try await books.update(
            Book.self, where: \.author?.id == 7, set: [.set(\.isRead, true)])
        #expect(unread.map(\.isRead) == [true, true])

        let loop = Task {
            let request = ObjectRequest(
                Book.self, where: !\.isRead, order: [.ascending(\.title)])
            for await update in books.updates(request) {
                print(update.snapshot.map(\.title))
            }
        }
        loop.cancel()
        await loop.value
        try await container.close()
    }

    @Test func integerKeysBecomeLinks() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "books.json")
        try Data(Self.json.utf8).write(to: file)
        try await expectImport(of: file)
    }

    /// Runs the command that the article shows.
    @Test(.enabled(if: Subprocess.isInPath("sqlite3")))
    func theCommandExportsADatabaseOfGRDB() async throws {
        let page = PackageFiles.root.appending(path: "Sources/CoreDataSource/CoreDataSource.docc/ComingFromGRDB.md")
        let block = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```sh\n").last
        let command = try #require(block?.components(separatedBy: "```").first)
        let directory = try TemporaryDirectory()
        let made = try await Subprocess("sqlite3", ["books.sqlite", Self.database], in: directory.url)
        #expect(made.status == 0, "\(made.errors)")
        let run = try await Subprocess("sh", ["-c", command], in: directory.url)
        #expect(run.status == 0, "\(run.errors)")
        let file = directory.url.appending(component: "books.json")
        #expect(try ObjectGraph(json: Data(contentsOf: file)) == ObjectGraph(json: Data(Self.json.utf8)))
        try await expectImport(of: file)
    }

    private func expectImport(of file: URL) async throws {
        let container = try await PersistentContainer(model: .books, store: .inMemory)
        let books = try container.dataSource(BookDataSource.self)
        let report = try await container.importGraph(contentsOf: file)
        print("\(report.inserted) new, \(report.updated) changed")
        #expect(report == SaveReport(inserted: 5))
        let authors = try books.fetch(Author.self, order: [.ascending(\.id)])
        #expect(authors.map(\.id) == [1, 7] && authors.map(\.books.count) == [0, 2])
        #expect(try books.fetch(Book.self, where: \.author == nil).map(\.id) == [3])
        try await container.close()
    }
}
