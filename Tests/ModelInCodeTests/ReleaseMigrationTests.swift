import CoreDataSource
import ErrorExpectations
import Testing

/// What happens to a store when the classes of an app change from one release to the next.
@MainActor
struct ReleaseMigrationTests {
    /// Makes a store with one shelf and three books, for the next release to open.
    private func withFilled(
        _ kind: ReleasePlace.Kind, keys: DataSourceKeys = DataSourceKeys(), _ body: (ReleasePlace) async throws -> Void
    ) async throws {
        let place = try ReleasePlace(kind)
        let container = try await place.open(FirstRelease.model, keys: keys)
        try await container.dataSource(FirstRelease.Shelves.self).perform { context in
            try context.insert(FirstRelease.Shelf.self).label = "A"
        }
        try await container.dataSource(FirstRelease.Books.self).perform { context in
            let shelf = try context.first(FirstRelease.Shelf.self, where: \.label, equals: "A")
            for number in 1...3 {
                let book = try context.insert(FirstRelease.Book.self)
                book.uid = "\(number)"
                book.title = "title \(number)"
                book.pages = Int16(number * 100)
                book.shelf = shelf
            }
        }
        try await container.close()
        try await body(place)
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aMigrationCarriesRenamedClassesAndPropertiesOver(kind: ReleasePlace.Kind) async throws {
        try await withFilled(kind) { place in
            let container = try await place.open(SecondRelease.model, .migrate)
            #expect(container.startup.migration?.rowsCarried == 4)
            #expect(!container.startup.isReset && container.startup.rowsDropped == 0)
            let main = container.main
            let volumes = try main.fetch(SecondRelease.Volume.self, order: [.ascending(\.uid)])
            #expect(volumes.map(\.name) == ["title 1", "title 2", "title 3"])
            #expect(volumes.map(\.pages) == [100, 200, 300])
            #expect(volumes.map(\.language) == ["en", "en", "en"] && volumes.allSatisfy { $0.rating == nil })
            #expect(volumes.map(\.shelf?.label) == ["A", "A", "A"])
            #expect(try main.fetch(SecondRelease.Shelf.self).map(\.books.count) == [3])
            try await container.dataSource(SecondRelease.Library.self).perform { context in
                try context.first(SecondRelease.Volume.self, where: \.uid, equals: "2")?.rating = .good
            }
            #expect(try main.count(ObjectRequest<SecondRelease.Volume>(where: \.rating == .good)) == 1)
            try await container.close()
            let again = try await place.open(SecondRelease.model, .migrate)
            #expect(again.startup.reason == .current)
            try await again.close()
        }
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aChangedClassResetsTheStoreAndKeepsABackup(kind: ReleasePlace.Kind) async throws {
        try await withFilled(kind) { place in
            if kind == .server {
                // A store that others use is not reset by default.
                let error = await expectError(.modelChanged) { try await place.open(OtherRelease.model) }
                #expect(error?.description.contains("Book") == true)
            }
            let container = try await place.open(OtherRelease.model, kind == .file ? .standard : .backup(keep: 1))
            #expect(container.startup.reason == .modelChanged(entities: ["Book"]))
            #expect(container.startup.isReset && container.startup.rowsDropped == 4)
            let startup = container.startup
            try await container.close()
            #expect(try await place.backedUpBookCount(startup) == 3)
        }
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func onlyTheRowsOfTheChangedClassAreDropped(kind: ReleasePlace.Kind) async throws {
        try await withFilled(kind) { place in
            let container = try await place.open(OtherRelease.model, .changedEntities)
            #expect(container.startup.rowsDropped == 3)
            #expect(try container.main.count(OtherRelease.Book.self) == 0)
            let shelves = try container.main.fetch(OtherRelease.Shelf.self)
            #expect(shelves.map(\.label) == ["A"] && shelves.map(\.books.count) == [0])
            try await container.close()
        }
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aKeyOfOneDataSourceDropsItsRowsAlone(kind: ReleasePlace.Kind) async throws {
        try await withFilled(kind, keys: [FirstRelease.Shelves.self: "1", FirstRelease.Books.self: "1"]) { place in
            let container = try await place.open(
                FirstRelease.model, kind == .file ? .standard : .discard,
                keys: [FirstRelease.Shelves.self: "1", FirstRelease.Books.self: "2"])
            #expect(container.startup.rowsDropped == 3)
            #expect(try container.main.count(FirstRelease.Book.self) == 0)
            #expect(try container.main.fetch(FirstRelease.Shelf.self).map(\.label) == ["A"])
            try await container.close()
        }
    }

    // MARK: Back to the release before

    /// A store knows no direction: the model of the release before is another model.
    @Test func theReleaseBeforeResetsTheStoreOfItsSuccessorByDefault() async throws {
        try await withFilled(.file) { place in
            try await place.open(SecondRelease.model, .migrate).close()
            let container = try await place.open(FirstRelease.model)
            #expect(container.startup.reason.isModelChanged && container.startup.rowsDropped == 4)
            #expect(try container.main.count(FirstRelease.Book.self) == 0)
            let backup = try #require(container.startup.backup)
            try await container.close()
            let newer = try await PersistentContainer(
                model: SecondRelease.model, store: .sqlite(backup), configuration: .init(resetPolicy: .fail))
            #expect(try newer.main.count(SecondRelease.Volume.self) == 3)
            try await newer.close()
        }
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aMigrationBackDropsWhatOnlyTheNewerReleaseHas(kind: ReleasePlace.Kind) async throws {
        try await withFilled(kind) { place in
            let newer = try await place.open(OtherRelease.model, .migrate)
            try await newer.dataSource(OtherRelease.Books.self).perform { context in
                for book in try context.fetch(OtherRelease.Book.self) { book.year = 1998 }
            }
            try await newer.close()
            let older = try await place.open(FirstRelease.model, .migrate(otherwise: .fail))
            #expect(older.startup.migration?.rowsCarried == 4 && older.startup.backup == nil)
            let losses = older.startup.migration?.losses ?? []
            #expect(losses.contains { $0.hasPrefix("Book.year") }, "\(losses)")
            #expect(try older.main.count(FirstRelease.Book.self) == 3)
            try await older.close()
            let again = try await place.open(OtherRelease.model, .migrate(otherwise: .fail))
            #expect(try again.main.fetch(OtherRelease.Book.self).map(\.year) == [nil, nil, nil])
            try await again.close()
        }
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aMigrationBackThatWouldLoseDataIsRefused(kind: ReleasePlace.Kind) async throws {
        let policy = ResetPolicy.migrateWithoutLoss(otherwise: .fail)
        try await withFilled(kind) { place in
            try await place.open(OtherRelease.model, policy).close()
            // No book has a year yet, so the older release can open the store.
            try await place.open(FirstRelease.model, policy).close()
            let newer = try await place.open(OtherRelease.model, policy)
            try await newer.dataSource(OtherRelease.Books.self).perform { context in
                try context.first(OtherRelease.Book.self, where: \.uid, equals: "2")?.year = 1998
            }
            try await newer.close()
            let error = await expectError(.modelChanged) { try await place.open(FirstRelease.model, policy) }
            let loss = "A migration would lose data: Book.year: the values (Integer 16, optional), in 1 object."
            #expect(error?.cause?.hasPrefix(loss) == true, "\(error?.cause ?? "")")
            let again = try await place.open(OtherRelease.model, .fail)
            #expect(try again.main.count(OtherRelease.Book.self, where: \.year == 1998) == 1)
            try await again.close()
        }
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aMigrationBackFollowsRenamingIdentifiers(kind: ReleasePlace.Kind) async throws {
        try await withFilled(kind) { place in
            let newer = try await place.open(RenamedRelease.model, .migrate(otherwise: .fail))
            #expect(try newer.main.count(RenamedRelease.Volume.self) == 3)
            try await newer.close()
            let older = try await place.open(FirstRelease.model, .migrate(otherwise: .fail))
            #expect(older.startup.migration?.rowsCarried == 4)
            let books = try older.main.fetch(FirstRelease.Book.self, order: [.ascending(\.uid)])
            #expect(books.map(\.title) == ["title 1", "title 2", "title 3"])
            #expect(books.map(\.shelf?.label) == ["A", "A", "A"])
            try await older.close()
        }
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aMigrationBackMakesNoNumberNarrower(kind: ReleasePlace.Kind) async throws {
        try await withFilled(kind) { place in
            try await place.open(SecondRelease.model, .migrate).close()
            let error = await expectError(.modelChanged) {
                try await place.open(FirstRelease.model, .migrate(otherwise: .fail))
            }
            #expect(error?.cause?.contains("Book.pages") == true)
            let newer = try await place.open(SecondRelease.model, .fail)
            #expect(try newer.main.count(SecondRelease.Volume.self) == 3)
            try await newer.close()
        }
    }

    @Test func theClassesOfAnOlderReleaseAreRefusedByTheModelOfANewerOne() async throws {
        var model = OtherRelease.model
        model.classes = FirstRelease.model.classes
        let refused = model
        let error = await expectError(.unreadableModel) {
            try await PersistentContainer(model: refused, store: .inMemory)
        }
        #expect(error?.entityName == "Book")
    }
}

enum FirstRelease {
    @StoredEntity("Shelf") final class Shelf: ManagedObject {
        @Stored(unique: true) var label: String
        @Related(inverse: "shelf") var books: RelatedObjects<Book>
    }

    @StoredEntity("Book") final class Book: ManagedObject {
        @Stored(unique: true) var uid: String
        var title: String = ""
        var pages: Int16 = 0
        @Related var shelf: Shelf?
    }

    static let model = ManagedObjectModel("Library") {
        Shelf.self
        Book.self
    }

    final class Shelves: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Shelf.self] }
    }

    final class Books: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Book.self] }
    }
}

/// Renames books and their titles, widens a number, and adds a required and an optional property.
enum SecondRelease {
    enum Rating: Int16, AttributeStorable {
        case poor = 1
        case good = 2
    }

    @StoredEntity("Shelf") final class Shelf: ManagedObject {
        @Stored(unique: true) var label: String
        @Related(inverse: "shelf") var books: RelatedObjects<Volume>
    }

    @StoredEntity("Volume", renamedFrom: "Book") final class Volume: ManagedObject {
        @Stored(unique: true) var uid: String
        @Stored(renamedFrom: "title") var name: String = ""
        var pages: Int64 = 0
        var language: String = "en"
        @Stored(raw: Int16.self) var rating: Rating?
        @Related var shelf: Shelf?
    }

    static let model = ManagedObjectModel("Library") {
        Shelf.self
        Volume.self
    }

    final class Library: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Shelf.self, Volume.self] }
    }
}

/// Renames books and their titles, and changes nothing else.
enum RenamedRelease {
    @StoredEntity("Shelf") final class Shelf: ManagedObject {
        @Stored(unique: true) var label: String
        @Related(inverse: "shelf") var books: RelatedObjects<Volume>
    }

    @StoredEntity("Volume", renamedFrom: "Book") final class Volume: ManagedObject {
        @Stored(unique: true) var uid: String
        @Stored(renamedFrom: "title") var name: String = ""
        var pages: Int16 = 0
        @Related var shelf: Shelf?
    }

    static let model = ManagedObjectModel("Library") {
        Shelf.self
        Volume.self
    }
}

/// Changes books alone.
enum OtherRelease {
    @StoredEntity("Shelf") final class Shelf: ManagedObject {
        @Stored(unique: true) var label: String
        @Related(inverse: "shelf") var books: RelatedObjects<Book>
    }

    @StoredEntity("Book") final class Book: ManagedObject {
        @Stored(unique: true) var uid: String
        var title: String = ""
        var pages: Int16 = 0
        var year: Int16?
        @Related var shelf: Shelf?
    }

    static let model = ManagedObjectModel("Library") {
        Shelf.self
        Book.self
    }

    final class Books: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Book.self] }
    }
}
