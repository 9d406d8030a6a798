public import Foundation
internal import QueryLanguage
internal import RowStore

/// A request for the objects of one class, in an order and within a limit.
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
/// A request is a value: it can be kept, changed and sent anywhere. The fetch that uses the request checks it.
public struct ObjectRequest<Object: ManagedObject>: Sendable {
    /// The predicate of the objects; nil for all objects.
    public var predicate: FetchPredicate<Object>?
    /// The sort order, the most significant attribute first. Objects that compare equal come in the order of creation.
    public var order: [FetchOrder<Object>]
    /// The most objects; nil for all. The fetch throws `invalidRequest` for a negative number.
    public var limit: Int?
    /// The number of objects to skip, 0 or more. The fetch throws `invalidRequest` for a negative number.
    ///
    /// **Complexity**: the store reads the skipped rows too. ``after`` costs the same for every page.
    public var offset: Int
    /// The end of the previous page. The fetch returns only objects after the cursor, in the order of the request.
    public var after: FetchCursor?
    /// The sections of a list of the objects; nil for one section. Fetches ignore the sections.
    ///
    /// ```swift
    /// request.sections = .days(of: \.date, in: calendar)
    /// ```
    public var sections: ListSections<Object>?
    /// Relationships to read together with the objects. Other relationships are read for all objects of the fetch at once, when
    /// the first object needs them.
    ///
    /// ```swift
    /// request.prefetch = [\.group]
    /// ```
    public var prefetch: [any PartialKeyPath<Object> & Sendable] = []
    /// Whether objects of sub-entities are included.
    public var includesSubentities: Bool
    /// Whether each combination of values comes only once. Only requests for values use it, not requests for objects.
    public var isDistinct: Bool

    /// A request for objects of a class: by default all of them, in the order of creation.
    ///
    /// ```swift
    /// let request = ObjectRequest(
    ///     ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)],
    ///     limit: 50)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate of the objects; nil, the default, for all.
    ///   - order: The sort order, the most significant attribute first. Objects that compare equal come in the order of
    ///     creation.
    ///   - limit: The most objects; nil, the default, for all. The fetch throws `invalidRequest` for a negative number.
    ///   - offset: The number of objects to skip; 0 by default.
    ///   - cursor: The end of the previous page; nil, the default, to begin with the first object.
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
    /// ```swift
    /// let request = ObjectRequest(
    ///     ContactEntity.self, order: [SortDescriptor(\.age, order: .reverse)])
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate of the objects; nil, the default, for all.
    ///   - order: Sort descriptors, the most significant first.
    ///   - limit: The most objects; nil, the default, for all.
    ///   - offset: The number of objects to skip; 0 by default.
    ///   - cursor: The end of the previous page; nil, the default, to begin with the first object.
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

    /// The same request for at most `count` objects.
    func limited(to count: Int) -> ObjectRequest {
        var request = self
        request.limit = limit.map { min($0, count) } ?? count
        return request
    }
}

/// A value for one attribute of every object of an update.
///
/// ```swift
/// try await contacts.update(
///     ContactEntity.self, where: \.age >= 30, set: [.set(\.isFavorite, true)])
/// ```
public struct FetchAssignment<Object: ManagedObject>: Sendable {
    let keyPath: any PartialKeyPath<Object> & Sendable
    let value: RowValue
    let apply: @Sendable (Object) -> Void

    /// Sets the attribute to a value.
    ///
    /// ```swift
    /// try await contacts.update(
    ///     ContactEntity.self, where: \.age >= 18,
    ///     set: [.set(\.isFavorite, true), .set(\.note, nil)])
    /// ```
    ///
    /// The setter of the property is called for one object of each entity, and all objects get the result. If your own setter
    /// depends on the object, set the property in `perform`.
    public static func set<Value: AttributeStorable>(
        _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ value: Value
    ) -> FetchAssignment {
        FetchAssignment(keyPath: keyPath, value: value.storedValue.value) { $0[keyPath: keyPath] = value }
    }
}

/// The end of a page of a fetch or a list. A cursor stays valid when its object is changed or deleted.
///
/// ```swift
/// let page = try contacts.fetch(request)
/// request.after = page.last.map { FetchCursor($0) }
/// let next = try contacts.fetch(request)
/// ```
public struct FetchCursor: Sendable {
    let stored: StoredRow
    let layout: EntityLayout

    /// The position of an object, in the order of the request or list that uses the cursor.
    ///
    /// ```swift
    /// request.after = page.last.map { FetchCursor($0) }
    /// ```
    public init(_ object: ManagedObject) {
        self.init(stored: StoredRow(key: object.key, row: object.wholeRow), layout: object.layout)
    }

    init(stored: StoredRow, layout: EntityLayout) {
        self.stored = stored
        self.layout = layout
    }
}

/// A checked request over the columns of a model.
struct FetchPlan {
    var query: RowQuery
    /// The entities whose objects are included.
    var family: [Int]
    /// The predicate that is evaluated on the objects of the rows found. Limit and offset are applied after it.
    var objectPredicate: ObjectPredicate?
    /// The columns whose keys are collected while the rows are read. The objects of these keys are read next.
    var linkColumns: [Int] = []

    /// The largest limit and offset. No store has so many rows, and the sum of several such numbers does not overflow.
    private static let mostRows = 1 << 48

    /// - Parameter query: A query of an entity that is not abstract.
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
        objectPredicate = predicate.objects
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

/// The way in which the store would find the objects of a request.
public struct FetchExplanation: Sendable, Hashable {
    /// The SQL, one statement for each entity, with placeholders for the values; empty for a store in memory.
    public var sql: [String]
    /// The steps of the store, in the store's own words.
    public var steps: [String]
    /// The slow parts of the request, each with a remedy.
    public var warnings: [String]
    /// The relationships that are read with the objects (``ObjectRequest/prefetch``). Other relationships are read for all
    /// objects of the fetch at once, when the first object needs them.
    public var prefetched: [String] = []
    /// The relationships and deferred attributes of the entity that this context has read for one object at a time, with the
    /// number of such reads.
    public var readOneByOne: [String: Int] = [:]
}
