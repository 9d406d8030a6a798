import CoreDataSource
import SQLiteStore
import TestSupport
import Testing

#if PostgreSQL
import PostgreSQLStore
#endif

@StoredEntity
final class PurchaseOrder: ManagedObject {
    @Stored(unique: true) var number: Int64
    var code: Int64 = 0
    @Related(inverse: "order", onDelete: .cascade) var lines: RelatedObjects<OrderLine>
}

@StoredEntity
final class OrderLine: ManagedObject {
    var sku: String = ""
    @Related(inverse: "lines") var order: PurchaseOrder?
}

/// Orders by number, each with two lines.
private final class PreparedOrders: DataSource<Int64> {
    override class var entities: [ManagedObject.Type] { [PurchaseOrder.self, OrderLine.self] }

    override func prepare(_ numbers: [Int64], in context: PrivateContext) throws {
        try context.preload(PurchaseOrder.self, where: \.number, in: numbers)
    }

    override func onAdd(_ number: Int64, in context: PrivateContext) throws -> ManagedObject? {
        let order = try context.findOrInsert(PurchaseOrder.self, where: \.number, equals: number)
        if order.code != number { order.code = number }
        var known: [String: OrderLine] = [:]
        for line in order.lines { known[line.sku] = line }
        for sku in ["a", "b"] where known[sku] == nil {
            let line = try context.insert(OrderLine.self)
            line.sku = sku
            line.order = order
        }
        return order
    }
}

/// The relationships of preloaded objects are read together, as those of fetched objects are.
@MainActor
struct PreloadedGroupTests {
    private static let model = ManagedObjectModel("Orders") {
        PurchaseOrder.self
        OrderLine.self
    }

    /// What the container has asked of its store: the round trips to a server, or the statements in a file.
    private nonisolated static func requests(_ container: PersistentContainer) throws -> Int {
        #if PostgreSQL
        if let store = container.stack.root.store as? PostgreSQLStore { return store.counters.roundTrips }
        #endif
        return try #require(container.stack.root.store as? SQLiteStore).counters.statementsRun
    }

    private func withOrders(
        _ kind: SharedPlace.Kind, count: Int64, _ body: (PersistentContainer, PreparedOrders) async throws -> Void
    ) async throws {
        let place = try SharedPlace(kind)
        let container = try place.open(model: PreloadedGroupTests.model)
        let orders = try container.dataSource(PreparedOrders.self)
        try await orders.sync(Array(0..<count), entity: PurchaseOrder.self)
        try await body(container, orders)
        try await container.close()
    }

    /// The first sync inserts the orders, so that no fetch has grouped them.
    @Test(arguments: SharedPlace.Kind.all)
    func theSecondSyncOfAProcessReadsLinesTogether(kind: SharedPlace.Kind) async throws {
        try await withOrders(kind, count: 300) { container, orders in
            let before = try PreloadedGroupTests.requests(container)
            try await orders.sync(Array(0..<300), entity: PurchaseOrder.self)
            let count = try PreloadedGroupTests.requests(container) - before
            #expect(count < 60, "\(count) for 300 orders")
            #expect(orders.diagnostics.isEmpty)
            #expect(try container.main.count(OrderLine.self) == 600)
        }
    }

    /// Calls the body with the orders of these numbers, in one batch that does not preload them.
    private func lookUp(
        _ numbers: Range<Int64>, _ orders: PreparedOrders,
        _ body: @escaping @Sendable (PurchaseOrder, PrivateContext) throws -> Void
    ) async throws {
        try await orders.perform { context in
            for number in numbers {
                guard let order = try context.first(PurchaseOrder.self, where: \.number, equals: number) else {
                    throw Poison()
                }
                try body(order, context)
            }
        }
    }

    /// New orders need no queries, and are not reported.
    @Test(arguments: SharedPlace.Kind.all)
    func aRelationshipThatIsReadOneByOneIsReported(kind: SharedPlace.Kind) async throws {
        let limit: Int64 = kind == .sqlite ? 1024 : 16
        try await withOrders(kind, count: limit + 10) { _, orders in
            try await lookUp(0..<limit - 1, orders) { order, _ in _ = order.lines.count }
            #expect(orders.diagnostics.isEmpty)
            for _ in 0..<2 { try await lookUp(0..<limit + 10, orders) { order, _ in _ = order.lines.count } }
            #expect(orders.diagnostics.map(\.entityName) == ["PurchaseOrder"])
            #expect(orders.diagnostics.map(\.attributeName) == ["lines"])
            let message = orders.diagnostics.first?.message ?? ""
            #expect(message.contains("preload") && message.contains("prefetch"))
            #expect(message.contains("round trip") == (kind != .sqlite))
        }
    }

    /// By an attribute without a constraint, the objects are found in another index.
    @Test func orderOfThePreloadAndKindOfTheAttributeMakeNoDifference() async throws {
        try await withOrders(.sqlite, count: 2500) { container, orders in
            for isUnique in [true, false] {
                let count = try await orders.perform { context in
                    let numbers = (0..<2500).reversed().map { Int64($0) } + [7, 7]
                    let path = isUnique ? \PurchaseOrder.number : \PurchaseOrder.code
                    try context.preload(PurchaseOrder.self, where: path, in: numbers)
                    let before = try PreloadedGroupTests.requests(container)
                    for number in numbers {
                        let order = try context.first(PurchaseOrder.self, where: path, equals: number)
                        if order?.lines.count != 2 { throw Poison() }
                    }
                    return try PreloadedGroupTests.requests(container) - before
                }
                // Three reads of lines, with what a read of a shared file costs.
                #expect(count <= 20)
            }
        }
    }

    /// A hook preloads a few of the objects that were preloaded or fetched for the whole list.
    @Test(arguments: [true, false]) func smallPreloadsDoNotSplitALargeGroup(isFetched: Bool) async throws {
        try await withOrders(.sqlite, count: 1000) { container, orders in
            let count = try await orders.perform { context in
                let numbers = (0..<1000).map { Int64($0) }
                let all = isFetched ? try context.fetch(PurchaseOrder.self) : []
                if !isFetched { try context.preload(PurchaseOrder.self, where: \.number, in: numbers) }
                let before = try PreloadedGroupTests.requests(container)
                for number in numbers where number.isMultiple(of: 2) {
                    try context.preload(PurchaseOrder.self, where: \.number, in: [number, number + 1])
                    for number in [number, number + 1] {
                        let order = try context.first(PurchaseOrder.self, where: \.number, equals: number)
                        if order?.lines.count != 2 { throw Poison() }
                    }
                }
                if isFetched, all.count != 1000 { throw Poison() }
                return try PreloadedGroupTests.requests(container) - before
            }
            #expect(count <= 20, "\(count) for 1,000 orders")
        }
    }

    /// A sync of a few of many fetched objects reads only the lines of these few.
    @Test(arguments: [true, false]) func aSmallPreloadFromALargeFetchReadsItsOwnLines(isFetched: Bool) async throws {
        try await withOrders(.sqlite, count: 10_000) { container, orders in
            let count = try await orders.perform { context in
                let all = isFetched ? try context.fetch(PurchaseOrder.self) : []
                let numbers = (0..<50).map { Int64($0 * 200) }
                try context.preload(PurchaseOrder.self, where: \.number, in: numbers)
                let before = try PreloadedGroupTests.requests(container)
                for number in numbers {
                    let order = try context.first(PurchaseOrder.self, where: \.number, equals: number)
                    if order?.lines.count != 2 { throw Poison() }
                }
                if isFetched, all.count != 10_000 { throw Poison() }
                return try PreloadedGroupTests.requests(container) - before
            }
            // One read, with what a read of a shared file costs.
            #expect(count <= 8, "\(count) for 50 orders")
        }
    }

    /// A preload leaves its objects in the group of the fetch, whose objects are then read from the last to the first.
    @Test(arguments: [true, false]) func aFetchIsReadInTheOtherDirection(isPreloaded: Bool) async throws {
        try await withOrders(.sqlite, count: 2500) { container, orders in
            let count = try await orders.perform { context in
                let all = try context.fetch(PurchaseOrder.self, order: [.ascending(\.number)])
                if isPreloaded {
                    try context.preload(PurchaseOrder.self, where: \.number, in: (0..<1000).map { Int64($0) })
                }
                let before = try PreloadedGroupTests.requests(container)
                for order in all.reversed() where order.lines.count != 2 { throw Poison() }
                return try PreloadedGroupTests.requests(container) - before
            }
            #expect(count <= 20, "\(count) for 2,500 orders")
        }
    }

    /// The objects of several small preloads are in one group after a large one.
    @Test func aLargePreloadJoinsSmallGroups() async throws {
        try await withOrders(.sqlite, count: 1000) { container, orders in
            let count = try await orders.perform { context in
                let numbers = (0..<1000).map { Int64($0) }
                for number in numbers where number.isMultiple(of: 2) {
                    try context.preload(PurchaseOrder.self, where: \.number, in: [number, number + 1])
                }
                try context.preload(PurchaseOrder.self, where: \.number, in: numbers)
                let before = try PreloadedGroupTests.requests(container)
                for number in numbers {
                    let order = try context.first(PurchaseOrder.self, where: \.number, equals: number)
                    if order?.lines.count != 2 { throw Poison() }
                }
                return try PreloadedGroupTests.requests(container) - before
            }
            #expect(count <= 20, "\(count) for 1,000 orders")
        }
    }

    @Test func aGroupHasTheEditsOfTheBatch() async throws {
        try await withOrders(.sqlite, count: 20) { _, orders in
            try await orders.perform { context in
                func order(_ number: Int64) throws -> PurchaseOrder {
                    guard let found = try context.first(PurchaseOrder.self, where: \.number, equals: number) else {
                        throw Poison()
                    }
                    return found
                }
                let (first, gone, last) = (try order(0), try order(1), try order(2))
                try context.insert(OrderLine.self).order = last
                try context.findOrInsert(PurchaseOrder.self, where: \.number, equals: 20).code = 20
                try context.preload(PurchaseOrder.self, where: \.number, in: (0..<22).map { Int64($0) })
                context.delete(gone)
                #expect(first.lines.count == 2 && last.lines.count == 3)
                let moved = try #require(Array(first.lines).first)
                moved.order = try order(20)
                #expect(first.lines.count == 1)
                #expect(try order(20).lines.map(\.objectID) == [moved.objectID])
                #expect(try order(19).lines.count == 2)
            }
        }
    }

    /// Objects of another data source that the batch has looked up before one by one.
    @Test func objectsOfAnotherDataSourceAreGroupedToo() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let topics = try container.dataSource(TopicDataSource.self)
        let letters = try container.dataSource(LetterDataSource.self)
        let keys = (0..<100).map { "topic-\($0)" }
        try await topics.add(keys)
        let count = try await letters.perform { context in
            let found = try keys.map { try context.first(Topic.self, where: \.key, equals: $0) }
            try context.preload(Topic.self, where: \.key, in: keys)
            let before = try PreloadedGroupTests.requests(container)
            for topic in found { #expect(topic?.letters.isEmpty == true) }
            return try PreloadedGroupTests.requests(container) - before
        }
        #expect(count <= 4)
        try await container.close()
    }
}
