import CoreDataSource
import Foundation
import ModelReader
import Testing

/// A model that is read when the program runs, with a class that is written by hand.
@MainActor
struct RuntimeModelTests {
    @Test(arguments: StoreKind.allCases)
    func aModelReadAtRunTimeWorksWithAClassWrittenByHand(kind: StoreKind) async throws {
        let model = try readBooks()
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: model, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory)
        let books = try container.dataSource(BookDataSource.self)
        let report = try await books.add([
            Book(isbn: "2", title: "B", pages: nil), Book(isbn: "1", title: "A", pages: 7),
        ])
        #expect(report == SaveReport(inserted: 2))

        let found = try books.fetch(BookEntity.self, order: [SortDescriptor(\.title)])
        #expect(found.map(\.isbn) == ["1", "2"])
        #expect(found.map(\.pages) == [7, nil])
        #expect(try books.main.first(BookEntity.self, where: \.isbn == "2")?.title == "B")
        try await container.close()
    }

    @Test func aModelReadTwiceFindsTheSameStoreCurrent() async throws {
        let directory = try TemporaryDirectory()
        for (reason, count) in [(StoreStartup.Reason.firstLaunch, 0), (.current, 1)] {
            let container = try await PersistentContainer(model: readBooks(), store: .sqlite(directory.store))
            let books = try container.dataSource(BookDataSource.self)
            #expect(container.startup.reason == reason)
            #expect(try books.count(BookEntity.self) == count)
            try await books.add(Book(isbn: "1", title: "A", pages: nil))
            try await container.close()
        }
    }

    private func readBooks() throws -> ManagedObjectModel {
        var model = try ModelReader.read(data: Data(contents.utf8), name: "Books").model
        model.classes = ["BookEntity": BookEntity.self]
        return model
    }

    private let contents = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="BookEntity" syncable="YES">
                <attribute name="isbn" attributeType="String"/>
                <attribute name="pages" optional="YES" attributeType="Integer 32" usesScalarValueType="NO"/>
                <attribute name="title" attributeType="String" defaultValueString=""/>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="isbn"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
        </model>
        """
}

private struct Book {
    var isbn: String
    var title: String
    var pages: Int32?
}

/// Its columns are the attributes in the order of the model, as `ManagedObjectModel.columns(of:)` lists them.
private final class BookEntity: ManagedObject {
    override class var entityName: String { "BookEntity" }

    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [\BookEntity.isbn: "isbn", \BookEntity.pages: "pages", \BookEntity.title: "title"]
    }

    var isbn: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var pages: Int32? {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }

    var title: String {
        get { attribute(at: 2) }
        set { setAttribute(newValue, at: 2) }
    }
}

private final class BookDataSource: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [BookEntity.self] }

    override func onAdd(_ object: any Sendable, in context: PrivateContext) throws -> ManagedObject? {
        guard let data = object as? Book else { return nil }
        let book = try context.findOrInsert(BookEntity.self, where: \.isbn, equals: data.isbn)
        book.title = data.title
        book.pages = data.pages
        return book
    }
}
