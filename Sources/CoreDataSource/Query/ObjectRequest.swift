public import Foundation
internal import QueryLanguage
internal import RowStore

/// Which objects to fetch, in what order, and which part of the result.
///
/// ```swift
/// var request = ObjectRequest(ContactEntity.self, where: \.age >= 18)
/// request.order = [.ascending(\.name, [.caseInsensitive, .numeric])]
/// request.limit = 50
/// let page = try contacts.fetch(request)
/// request.after = page.last.map { FetchCursor($0) }
/// let next = try contacts.fetch(request)
/// ```
///
/// A request is a value: it can be kept, changed and sent anywhere. It is checked when it is used.
public struct ObjectRequest<Object: ManagedObject>: Sendable {
    /// Nil for all objects.
    public var predicate: FetchPredicate<Object>?
    /// Objects that compare equal come in the order of creation.
    public var order: [FetchOrder<Object>]
    /// The most objects; nil for all. A negative number makes the fetch throw `invalidRequest`.
    public var limit: Int?
    /// How many objects to skip; 0 or more. ``after`` does not get slower with every page.
    public var offset: Int
    /// Where the previous page ended: only objects that come after it in the order are returned.
    public var after: FetchCursor?
    /// Relationships to read together with the objects. Other relationships are read for all objects of the fetch at once, when
    /// the first object needs them.
    ///
    /// ```swift
    /// request.prefetch = [\.group]
    /// ```
    public var prefetch: [any PartialKeyPath<Object> & Sendable] = []
    /// Whether objects of sub-entities are included.
    public var includesSubentities: Bool
    /// Whether each combination of values comes only once. It applies to requests of values, not of objects.
    public var isDistinct: Bool

    /// A request for objects of a class: by default all of them, in the order of creation.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - order: What to sort by, the most significant first. Objects that compare equal come in the order of creation.
    ///   - limit: The most objects; nil, the default, for all. A negative number makes the fetch throw `invalidRequest`.
    ///   - offset: How many objects to skip; 0 by default.
    ///   - cursor: Where the previous page ended; nil, the default, to begin with the first object.
    public init(
        _ type: Object.Type = Object.self, where predicate: FetchPredicate<Object>? = nil,
        order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0, after cursor: FetchCursor? = nil
    ) {
        self.predicate = predicate
        self.order = order
        self.limit = limit
        self.offset = offset
        after = cursor
        includesSubentities = true
        isDistinct = false
    }

    /// A request in the order of Foundation's sort descriptors; see ``FetchOrder/init(_:)``.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: Which objects; nil, the default, for all.
    ///   - order: Sort descriptors, the most significant first.
    ///   - limit: The most objects; nil, the default, for all.
    ///   - offset: How many objects to skip; 0 by default.
    ///   - cursor: Where the previous page ended; nil, the default, to begin with the first object.
    @_disfavoredOverload
    public init(
        _ type: Object.Type = Object.self, where predicate: FetchPredicate<Object>? = nil,
        order: [SortDescriptor<Object>], limit: Int? = nil, offset: Int = 0, after cursor: FetchCursor? = nil
    ) {
        self.init(
            type, where: predicate, order: order.map { FetchOrder($0) }, limit: limit, offset: offset, after: cursor)
    }

    /// - Throws: `invalidRequest` for a negative limit or offset.
    func checkWindow() throws(DataSourceError) {
        for (name, value) in [("limit", limit ?? 0), ("offset", offset)] where value < 0 {
            throw DataSourceError(
                .invalidRequest,
                "A request of \(Object.entityName) has the \(name) \(value), which is negative. Use 0 or more, or no limit for all objects.",
                entityName: Object.entityName)
        }
    }

    /// The same request for at most that many objects.
    func limited(to count: Int) -> ObjectRequest {
        var request = self
        request.limit = limit.map { min($0, count) } ?? count
        return request
    }
}

/// A value for one attribute of every object of an update.
///
/// ```swift
/// try await contacts.update(ContactEntity.self, where: \.age >= 30, set: [.set(\.isFavorite, true)])
/// ```
public struct FetchAssignment<Object: ManagedObject>: Sendable {
    /// The column and its new value, if the key path leads to an attribute.
    let keyPath: any PartialKeyPath<Object> & Sendable
    let value: RowValue
    let apply: @Sendable (Object) -> Void

    /// Sets the attribute to that value.
    ///
    /// The property's setter is called for one object of each entity, and the result is used for all. If your own setter
    /// depends on the object, set the property in `perform`.
    public static func set<Value: AttributeStorable>(
        _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ value: Value
    ) -> FetchAssignment {
        FetchAssignment(keyPath: keyPath, value: value.storedValue.value) { $0[keyPath: keyPath] = value }
    }
}

/// Where a page of a fetch or a list ended. It stays valid when the object is changed or deleted.
///
/// ```swift
/// let page = try contacts.fetch(request)
/// request.after = page.last.map { FetchCursor($0) }
/// let next = try contacts.fetch(request)
/// ```
public struct FetchCursor: Sendable {
    let stored: StoredRow
    let layout: EntityLayout

    /// The place of an object, in the order of the request or list that uses the cursor.
    public init(_ object: ManagedObject) {
        self.init(stored: StoredRow(key: object.key, row: object.wholeRow), layout: object.layout)
    }

    init(stored: StoredRow, layout: EntityLayout) {
        self.stored = stored
        self.layout = layout
    }
}

/// A request over the columns of a model: checked, and ready to run.
struct FetchPlan {
    var query: RowQuery
    /// The entities whose objects are included.
    var family: [Int]
    /// The test of the objects after the rows were found; limit and offset are applied after it.
    var tests: ObjectPredicate?
    /// The columns whose keys are collected while the rows are read, because the objects that they lead to are read next.
    var linkColumns: [Int] = []

    /// The largest limit and offset that are used: more than any store has, and small enough that a few of them can be added.
    private static let mostRows = 1 << 48

    /// A query of one entity that can have rows.
    init(_ query: RowQuery) {
        self.query = query
        family = [query.entity]
    }

    init<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, entity: EntityLayout, in model: ModelLayout, withGoneObjects: Set<Int> = []
    ) throws(DataSourceError) {
        try request.checkWindow()
        let resolver = PredicateResolver(entity, in: model, withGoneObjects: withGoneObjects)
        let predicate = try request.predicate?.tree.split(resolver) ?? ResolvedPredicate(rows: .constant(true))
        query = RowQuery(entity: entity.index, predicate: predicate.rows)
        tests = predicate.objects
        for order in request.order { query.sort.append(try order.resolved(resolver)) }
        query.joined = resolver.joins.columns
        query.limit = request.limit.map { min($0, FetchPlan.mostRows) }
        query.offset = min(request.offset, FetchPlan.mostRows)
        family = entity.concreteFamily
        if !request.includesSubentities { family = family.filter { $0 == entity.index } }
        try request.after?.check(entity, in: model)
    }
}

extension FetchCursor {
    /// - Throws: `invalidPredicate` if the cursor belongs to an object of another entity or of another container.
    func check(_ entity: EntityLayout, in model: ModelLayout) throws(DataSourceError) {
        if entity.concreteFamily.contains(where: { model.entities[$0] === layout }) { return }
        throw DataSourceError(
            .invalidPredicate,
            "The cursor belongs to \(layout.name), but this request fetches \(entity.name). Make the cursor from the last object of the previous page.",
            entityName: entity.name)
    }
}

/// How the store would find the objects of a request.
public struct FetchExplanation: Sendable, Hashable {
    /// The SQL, one statement for each entity, with placeholders for the values; empty for a store in memory.
    public var sql: [String]
    /// What the store does, in its own words.
    public var steps: [String]
    /// What is slow about it, and what to do.
    public var warnings: [String]
    /// The relationships that are read with the objects (``ObjectRequest/prefetch``). Other relationships are read for all
    /// objects of the fetch at once, when the first object needs them.
    public var prefetched: [String] = []
    /// The relationships of the entity, and the attributes with large values that lie apart, that this context has read for one
    /// object at a time, and how often.
    public var readOneByOne: [String: Int] = [:]
}
