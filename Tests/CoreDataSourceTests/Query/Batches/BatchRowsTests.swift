import CoreDataSource
import ErrorExpectations
import Foundation
import QueryLanguage
import RowStore
import SQLiteStore
import Testing

/// A batch changes rows of which no objects are made, in whatever tier they are.
@MainActor
@Suite(.serialized)
struct BatchRowsTests {
    /// More than are written one by one.
    private nonisolated static let count = 200

    private let model = ManagedObjectModel(
        name: "Parts",
        entities: [
            EntityDescription(
                name: "Part",
                attributes: [
                    AttributeDescription(name: "code", type: .string),
                    AttributeDescription(name: "label", type: .string, isOptional: true),
                    AttributeDescription(
                        name: "size", type: .integer32, isOptional: true, minimum: .integer(0), maximum: .integer(9)),
                    AttributeDescription(name: "weight", type: .double, isOptional: true),
                    AttributeDescription(
                        name: "search", type: .string, isOptional: true, derivationExpression: "uppercase:(label)"),
                ], uniquenessConstraints: [["code"]])
        ])

    private func withParts(
        _ kind: StoreKind = .inMemory,
        _ body: @MainActor (PlainDataSource<Part>, PersistentContainer) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        var model = model
        model.classes = ["Part": Part.self]
        let container = try await PersistentContainer(
            model: model, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory,
            configuration: .init(registeredObjectByteLimit: 0))
        let parts = try container.dataSource(PlainDataSource<Part>.self)
        try await parts.perform { context in
            for number in 0..<Self.count {
                let part = try context.insert(Part.self)
                part.code = "code \(number)"
                part.label = "l\(number % 2)"
            }
        }
        try await body(parts, container)
        try await container.close()
    }

    private let odd = \Part.label == "l1"

    @Test func noObjectsAreMade() async throws {
        try await withParts { parts, _ in
            let before = Part.made.value
            let updated = try await parts.update(Part.self, where: odd, set: [.set(\.weight, 2)])
            let deleted = try await parts.delete(Part.self, where: odd)
            #expect(updated == SaveReport(updated: 100))
            #expect(deleted == SaveReport(deleted: 100))
            // One is asked what the assignments do.
            #expect(Part.made.value - before <= 1)
        }
    }

    /// A property that does more than to set its attribute does so to every object.
    @Test(arguments: StoreKind.allCases)
    func aBulkUpdateRunsHandwrittenSetters(kind: StoreKind) async throws {
        try await withParts(kind) { parts, _ in
            #expect(
                try await parts.update(Part.self, where: odd, set: [.set(\.sizeAndWeight, 3)])
                    == SaveReport(updated: 100))
            let found = try parts.fetch(Part.self, where: odd)
            #expect(found.allSatisfy { $0.size == 3 && $0.weight == 3 })
            try await parts.update(Part.self, where: odd, set: [.set(\.sizeTwice, 4)], waitFor: .main)
            #expect(found.allSatisfy { $0.size == 4 && $0.weight == 8 })
        }
    }

    /// One does more only where it changes something, the other only for objects that were saved.
    @Test(arguments: [\Part.countedSize, \Part.markedSize] as [any ReferenceWritableKeyPath<Part, Int32> & Sendable])
    fileprivate func aPropertyIsTriedOnARowThatChanges(
        _ property: any ReferenceWritableKeyPath<Part, Int32> & Sendable
    ) async throws {
        try await withParts { parts, _ in
            try await parts.perform { try $0.first(Part.self, where: \.code, equals: "code 0")?.size = 3 }
            try await parts.update(Part.self, set: [.set(property, 3)])
            let found = try parts.fetch(Part.self, where: \Part.code != "code 0")
            #expect(found.count == Self.count - 1 && found.allSatisfy { $0.size == 3 && $0.weight == 1 })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func derivedAttributesFollow(kind: StoreKind) async throws {
        try await withParts(kind) { parts, _ in
            try await parts.update(Part.self, where: odd, set: [.set(\.label, "new")])
            let found = try parts.fetch(Part.self, where: \Part.label == "new")
            #expect(found.count == 100)
            #expect(found.allSatisfy { $0.attribute(at: 4) as String? == "NEW" })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aValueThatBreaksARuleChangesNothing(kind: StoreKind) async throws {
        try await withParts(kind) { parts, container in
            let saves = container.stack.root.newestSave
            for values in [[.set(\.size, 10)], [.set(\.weight, .nan)], [.set(\.weight, 1), .set(\.size, -1)]]
                as [[FetchAssignment<Part>]]
            {
                await expectError(.validationFailed) {
                    try await parts.update(Part.self, set: values)
                }
            }
            #expect(container.stack.root.newestSave == saves)
            // What was refused is not saved with the next batch.
            let report = try await parts.update(Part.self, where: odd, set: [.set(\.size, 9)])
            #expect(report == SaveReport(updated: 100))
            #expect(try parts.fetch(Part.self).allSatisfy { $0.weight == nil && ($0.size == 9) == ($0.label == "l1") })
        }
    }

    /// In one of many rows the value is there already.
    @Test(arguments: StoreKind.allCases)
    func onlyRowsThatChangeAreWritten(kind: StoreKind) async throws {
        try await withParts(kind) { parts, _ in
            try await parts.update(Part.self, where: odd, set: [.set(\.weight, 1), .set(\.size, 1)])
            let report = try await parts.update(Part.self, set: [.set(\.weight, 1), .set(\.size, 2), .set(\.size, 1)])
            #expect(report == SaveReport(updated: 100))
            #expect(try parts.fetch(Part.self).allSatisfy { $0.weight == 1 && $0.size == 1 })
            #expect(try await parts.update(Part.self, set: []) == SaveReport())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aPredicateThatAsksTheObjectsIsAskedOfThem(kind: StoreKind) async throws {
        try await withParts(kind) { parts, _ in
            let isFirst = FetchPredicate<Part>(
                .custom(ObjectMatcher("ends in 1") { ($0 as? Part)?.code.hasSuffix("1") == true }))
            let updated = try await parts.update(Part.self, where: isFirst, set: [.set(\.weight, 1)])
            let deleted = try await parts.delete(Part.self, where: isFirst)
            #expect(updated == SaveReport(updated: 20))
            #expect(deleted == SaveReport(deleted: 20))
            #expect(try parts.count(Part.self) == 180)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aUniqueValueIsCheckedForAll(kind: StoreKind) async throws {
        try await withParts(kind) { parts, _ in
            await expectError(.uniquenessViolated) {
                try await parts.update(Part.self, set: [.set(\.weight, 1), .set(\.code, "same")])
            }
            let one = \Part.code == "code 7"
            try await parts.update(Part.self, where: one, set: [.set(\.code, "same")])
            #expect(try parts.main.first(Part.self, where: \.code == "same")?.weight == nil)
        }
    }

    // MARK: Tiers

    /// Contacts in a store that can refuse, over SQLite.
    private func withContacts(
        _ body: @MainActor (ContactDataSource, PersistentContainer, FaultyStore) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let layout = ModelLayout(.contacts)
        let hashes = Dictionary(uniqueKeysWithValues: layout.entities.map { ($0.name, "1") })
        let store = FaultyStore(
            over: try SQLiteStore.open(
                SQLiteStore.Options(
                    url: directory.store, layout: layout,
                    identity: StoreIdentity(modelHash: "1", entityHashes: hashes, databaseKey: "1"),
                    synchronous: .normal)))
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        try await body(try container.dataSource(ContactDataSource.self), container, store)
        try await container.close()
        try expectIntact(directory.store)
    }

    private func stored(_ store: FaultyStore, _ container: PersistentContainer) throws -> [String: Int] {
        let contact = try #require(container.stack.layout.entity(named: "ContactEntity"))
        let name = try #require(contact.column(named: "name"))
        let rows = try store.read(.statement) { (reader) throws(DataSourceError) in
            try reader.rows(RowQuery(entity: contact.index))
        }
        return Dictionary(grouping: rows) { $0.row.text(name) }.mapValues(\.count)
    }

    /// Rows that are saved, but not in the store: the batch finds them, and is written after them.
    @Test func rowsThatAreNotCommittedYetAreChangedToo() async throws {
        try await withContacts { contacts, container, store in
            try await contacts.add(contactList(0..<100) { _ in "old" })
            store.fail(with: noRoom)
            try await contacts.add(contactList(50..<150) { _ in "pending" }, waitFor: .main)
            let pending = \ContactEntity.name == "pending"
            let report = try await contacts.update(
                ContactEntity.self, where: pending, set: [.set(\.name, "new")], waitFor: .main)
            #expect(report == SaveReport(updated: 100))
            let old = \ContactEntity.name == "old"
            #expect(
                try await contacts.delete(ContactEntity.self, where: old, waitFor: .main) == SaveReport(deleted: 50))
            try await contacts.add(contactList(0..<10) { _ in "pending" }, waitFor: .main)
            #expect(try stored(store, container) == ["old": 100])
            #expect(try contacts.count(ContactEntity.self, where: \ContactEntity.name == "new") == 100)
            await expectError(.diskFull) { try await container.flush() }
            store.fail(with: nil)
            try await container.flush()
            #expect(try stored(store, container) == ["new": 100, "pending": 10])
        }
    }

    @Test func aBatchThatIsDiscardedIsRolledBackEverywhere() async throws {
        try await withContacts { contacts, container, store in
            try await contacts.add(contactList(0..<100) { _ in "old" })
            let shown = try contacts.fetch(ContactEntity.self)
            store.fail(with: noRoom)
            try await contacts.update(ContactEntity.self, set: [.set(\.name, "new")], waitFor: .main)
            #expect(shown.allSatisfy { $0.name == "new" })
            _ = await container.discardPending()
            store.fail(with: nil)
            #expect(try contacts.fetch(ContactEntity.self).allSatisfy { $0.name == "old" })
            #expect(try stored(store, container) == ["old": 100])
        }
    }

    /// Objects that a private context has from before, and knows by their unique values, are as the batch left them.
    @Test(arguments: StoreKind.allCases)
    func registeredObjectsFollow(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<100) { _ in "old" })
            #expect(try await contacts.perform { try $0.fetch(ContactEntity.self).count } == 100)
            try await contacts.update(ContactEntity.self, set: [.set(\.name, "new"), .set(\.phone, nil)])
            try await contacts.perform { context in
                let one = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: "uid-4")
                #expect((one.name, one.phone) == ("new", nil))
                #expect(!one.isInserted)
                let all = try context.fetch(ContactEntity.self)
                #expect(all.allSatisfy { $0.name == "new" })
            }
            try await contacts.delete(ContactEntity.self, where: \ContactEntity.phone == nil)
            try await contacts.perform { context in
                #expect(try context.fetch(ContactEntity.self).isEmpty)
                #expect(try context.first(ContactEntity.self, where: \.uid, equals: "uid-4") == nil)
                let again = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: "uid-4")
                #expect(again.isInserted)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aListReportsABatchAsOneChange(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<100) { "\($0 % 2)" })
            let delegate = RecordingDelegate()
            try contacts.register(
                delegate, dataKey: "list", ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
            delegate.follow(contacts, "list")
            let even = \ContactEntity.name == "0"
            try await contacts.update(ContactEntity.self, where: even, set: [.set(\.name, "2")], waitFor: .main)
            let names = contacts.allObjects(dataKey: "list", as: ContactEntity.self).map(\.name)
            #expect(names == Array(repeating: "1", count: 50) + Array(repeating: "2", count: 50))
            try await contacts.delete(ContactEntity.self, where: nil, waitFor: .main)
            #expect(contacts.allObjects(dataKey: "list", as: ContactEntity.self).isEmpty)
            #expect(delegate.problems == [])
        }
    }
}

/// Its columns are the attributes in the order of the model.
private final class Part: ManagedObject {
    static let made = Shared(0)

    required init(_ seed: borrowing ManagedObjectSeed) {
        Part.made.update { $0 += 1 }
        super.init(seed)
    }

    override class var entityName: String { "Part" }

    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Part.code: "code", \Part.label: "label", \Part.size: "size", \Part.weight: "weight",
            \Part.sizeTwice: "size", \Part.countedSize: "size", \Part.markedSize: "size",
        ]
    }

    var code: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var label: String? {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }

    var size: Int32? {
        get { attribute(at: 2) }
        set { setAttribute(newValue, at: 2) }
    }

    var weight: Double? {
        get { attribute(at: 3) }
        set { setAttribute(newValue, at: 3) }
    }

    /// One that is no attribute.
    var sizeAndWeight: Int32 {
        get { size ?? 0 }
        set {
            size = newValue
            weight = Double(newValue)
        }
    }

    /// One that is, and does more.
    var sizeTwice: Int32 {
        get { size ?? 0 }
        set {
            size = newValue
            weight = Double(newValue) * 2
        }
    }

    var countedSize: Int32 {
        get { size ?? 0 }
        set {
            if newValue == size { return }
            size = newValue
            weight = (weight ?? 0) + 1
        }
    }

    var markedSize: Int32 {
        get { size ?? 0 }
        set {
            size = newValue
            if !isInserted { weight = 1 }
        }
    }
}

/// An object with a value that no store has.
private final class Page: ManagedObject {
    override class var entityName: String { "Page" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\Page.cursor: "cursor", \Page.size: "size"] }

    var cursor: Int32 {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var size: Int32 {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }
}

extension BatchRowsTests {
    @Test func valuesThatNoStoreHasStay() async throws {
        let directory = try TemporaryDirectory()
        var model = ManagedObjectModel(
            name: "Pages",
            entities: [
                EntityDescription(
                    name: "Page",
                    attributes: [
                        AttributeDescription(name: "cursor", type: .integer32, isTransient: true),
                        AttributeDescription(name: "size", type: .integer32),
                    ])
            ])
        model.classes = ["Page": Page.self]
        let container = try await PersistentContainer(model: model, store: .sqlite(directory.store))
        let pages = try container.dataSource(PlainDataSource<Page>.self)
        try await pages.perform { context in
            for number: Int32 in 1...40 {
                let page = try context.insert(Page.self)
                (page.cursor, page.size) = (number, 0)
            }
        }
        try await pages.update(Page.self, set: [.set(\.size, 1)])
        let cursors = try await pages.perform { context in
            try context.fetch(Page.self).map { $0.size == 1 ? $0.cursor : 0 }
        }
        #expect(cursors == Array(1...40))
        try await container.close()
    }
}
