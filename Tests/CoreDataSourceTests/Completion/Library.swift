import CoreDataSource
import RowStore
import Synchronization

@StoredEntity final class Rack: ManagedObject {
    @Stored(unique: true) var key: String
    var bookCount: Int64 = 0
    var readCount: Int64 = 0
    @Related(inverse: "shelf", onDelete: .cascade) var books: RelatedObjects<Volume>
}

@StoredEntity final class Volume: ManagedObject {
    @Stored(unique: true) var key: String
    var title: String = ""
    var isRead: Bool = false
    var tagCount: Int64 = 0
    @Related(inverse: "books") var shelf: Rack?
    @Related(inverse: "books") var tags: RelatedObjects<Tag>
    @Related(inverse: "book", onDelete: .cascade) var loans: RelatedObjects<Loan>
    @Related(inverse: "book") var nodes: RelatedObjects<Node>
    @Related(inverse: "book", onDelete: .deny) var holds: RelatedObjects<Hold>
}

@StoredEntity final class Tag: ManagedObject {
    @Stored(unique: true) var key: String
    var name: String = ""
    var bookCount: Int64 = 0
    @Related(inverse: "tags") var books: RelatedObjects<Volume>
    @Related(inverse: "tag", onDelete: .cascade) var holds: RelatedObjects<Hold>
}

@StoredEntity final class Loan: ManagedObject {
    @Stored(unique: true) var key: String
    var bookKey: String = ""
    @Related(inverse: "loans") var book: Volume?
    @Related(inverse: "loans") var day: Day?
}

@StoredEntity final class Day: ManagedObject {
    @Stored(unique: true) var key: String
    var loanCount: Int64 = 0
    @Related(inverse: "day") var loans: RelatedObjects<Loan>
}

@StoredEntity final class Node: ManagedObject {
    @Stored(unique: true) var key: String
    var childCount: Int64 = 0
    var total: Int64 = 1
    var hasBook: Bool = false
    @Related(inverse: "children") var parent: Node?
    @Related(inverse: "parent", onDelete: .cascade) var children: RelatedObjects<Node>
    @Related(inverse: "nodes") var book: Volume?
}

/// Denies the deletion of its book.
@StoredEntity final class Hold: ManagedObject {
    @Stored(unique: true) var key: String
    @Related(inverse: "holds") var book: Volume?
    @Related(inverse: "holds") var tag: Tag?
}

extension ManagedObjectModel {
    /// Five data sources own its entities, and delete rules lead from each to others.
    static let library = ManagedObjectModel("Library") {
        Rack.self
        Volume.self
        Tag.self
        Loan.self
        Day.self
        Node.self
        Hold.self
    }
}

/// A shelf with its books, which are swept.
struct ShelfValue: Sendable {
    var key: String
    var books: [String]
}

class ShelfSource: DataSource<ShelfValue> {
    override class var entities: [ManagedObject.Type] { [Rack.self, Volume.self] }

    override func onAdd(_ value: ShelfValue, in context: PrivateContext) throws -> ManagedObject? {
        let shelf = try context.findOrInsert(Rack.self, where: \.key, equals: value.key)
        let books = try value.books.map { try context.findOrInsert(Volume.self, where: \.key, equals: $0) }
        for book in books { book.shelf = shelf }
        try context.sweep(\.books, of: shelf, keeping: books, options: .allowsEmpty)
        return shelf
    }

    override func onDelete(_ value: ShelfValue, in context: PrivateContext) throws {
        try context.delete(Rack.self, where: \.key == value.key)
    }
}

class TagSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Tag.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        try context.findOrInsert(Tag.self, where: \.key, equals: key)
    }
}

struct LoanValue: Sendable {
    var key: String
    var book: String?
    var day: String?
}

class LoanSource: DataSource<LoanValue> {
    override class var entities: [ManagedObject.Type] { [Loan.self, Day.self] }

    override func onAdd(_ value: LoanValue, in context: PrivateContext) throws -> ManagedObject? {
        let loan = try context.findOrInsert(Loan.self, where: \.key, equals: value.key)
        if let book = value.book { loan.book = try context.first(Volume.self, where: \.key, equals: book) }
        if let day = value.day { loan.day = try context.findOrInsert(Day.self, where: \.key, equals: day) }
        return loan
    }
}

class NodeSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Node.self] }
}

class HoldSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Hold.self] }
}
