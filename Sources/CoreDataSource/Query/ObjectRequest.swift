public import Foundation
internal import QueryLanguage
internal import RowStore

/// A request for objects of one class, with a predicate, an order and a limit.
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
/// A request is a value: keep it, change it, or send it to any actor. A request is checked by the fetch that uses it.
public struct ObjectRequest<Object: ManagedObject>: Sendable {
    /// The predicate that the objects must match; nil for all objects.
    public var predicate: FetchPredicate<Object>?
    /// The sort order. The first attribute is the most significant. Objects that compare equal are in creation order.
    public var order: [FetchOrder<Object>]
    /// The largest number of objects; nil for all. If the number is negative, the fetch throws `invalidRequest`.
    public var limit: Int?
    /// The number of objects to skip, 0 or more. If the number is negative, the fetch throws `invalidRequest`.
    ///
    /// **Complexity**: the store also reads the skipped rows. A cursor in ``after`` costs the same for every page.
    public var offset: Int
    /// The end of the previous page; nil to begin with the first object. The fetch returns only the objects that follow the
    /// cursor in the order of the request.
    public var after: FetchCursor?
    /// The sections, if the request is used for a list; nil for one section. Fetches ignore the sections.
    ///
    /// ```swift
    /// request.sections = .days(of: \.date, in: calendar)
    /// ```
    public var sections: ListSections<Object>?
    /// The relationships to read together with the objects. Any other relationship is read at its first use, for up to
    /// 1,000 objects of the fetch together.
    ///
    /// ```swift
    /// request.prefetch = [\.group]
    /// ```
    public var prefetch: [any PartialKeyPath<Object> & Sendable] = []
    /// The scope whose freshness a list of the request shows with its rows; nil, the default, for none. Fetches ignore the
    /// scope, and the scope's predicate restricts neither fetches nor lists.
    ///
    /// ```swift
    /// request.freshnessOf = all
    /// ```
    ///
    /// See ``LiveList/freshness``, ``ListUpdate/freshness`` and ``EntityDataSource/freshness(dataKey:)``.
    public var freshnessOf: SyncScope<Object>?
    /// Whether objects of sub-entities are included.
    public var includesSubentities: Bool
    /// Whether each combination of values is returned only once. Only requests for values use this property.
    public var isDistinct: Bool

    /// Makes a request for objects of a class. By default, the request is for all objects, in creation order.
    ///
    /// ```swift
    /// let request = ObjectRequest(
    ///     ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)],
    ///     limit: 50)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - predicate: The predicate that the objects must match. Nil, the default, for all objects.
    ///   - order: The sort order. The first attribute is the most significant. Equal objects are in the order of their
    ///     creation.
    ///   - limit: The largest number of objects; nil, the default, for all. If the number is negative, the fetch throws
    ///     `invalidRequest`.
    ///   - offset: The number of objects to skip; 0 by default.
    ///   - cursor: The end of the previous page; nil, the default, to begin with the first object.
    ///   - prefetch: The relationships to read together with the objects; none by default. See ``prefetch``.
    ///   - scope: The scope whose freshness a list shows; nil, the default, for none. See ``freshnessOf``.
    public init(
        _ type: Object.Type = Object.self, where predicate: FetchPredicate<Object>? = nil,
        order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0, after cursor: FetchCursor? = nil,
        prefetch: [any PartialKeyPath<Object> & Sendable] = [], freshnessOf scope: SyncScope<Object>? = nil
    ) {
        self.predicate = predicate
        self.order = order
        self.limit = limit
        self.offset = offset
        after = cursor
        self.prefetch = prefetch
        freshnessOf = scope
        includesSubentities = true
        isDistinct = false
    }

    /// Makes a request that is sorted by Foundation's sort descriptors. See ``FetchOrder/init(_:)``.
    ///
    /// ```swift
    /// let request = ObjectRequest(
    ///     ContactEntity.self, order: [SortDescriptor(\.age, order: .reverse)])
    /// ```
    ///
    /// With a predicate, convert the sort descriptors: `[FetchOrder(SortDescriptor(\.age))]`. If this initializer took a predicate,
    /// the compiler could not find the types of many predicates in calls of the other initializer.
    ///
    /// - Parameters:
    ///   - type: The class of the objects.
    ///   - order: The sort descriptors. The first descriptor is the most significant.
    ///   - limit: The largest number of objects; nil, the default, for all.
    ///   - offset: The number of objects to skip; 0 by default.
    ///   - cursor: The end of the previous page; nil, the default, to begin with the first object.
    ///   - prefetch: The relationships to read together with the objects; none by default. See ``prefetch``.
    ///   - scope: The scope whose freshness a list shows; nil, the default, for none. See ``freshnessOf``.
    @_disfavoredOverload
    public init(
        _ type: Object.Type = Object.self, order: [SortDescriptor<Object>], limit: Int? = nil, offset: Int = 0,
        after cursor: FetchCursor? = nil,
        prefetch: [any PartialKeyPath<Object> & Sendable] = [], freshnessOf scope: SyncScope<Object>? = nil
    ) {
        self.init(
            type, order: order.map { FetchOrder($0) }, limit: limit, offset: offset, after: cursor,
            prefetch: prefetch, freshnessOf: scope)
    }

    /// Checks the limit and the offset.
    ///
    /// - Throws: `invalidRequest` if the limit or the offset is negative.
    func checkWindow() throws(DataSourceError) {
        for (name, value) in [("limit", limit ?? 0), ("offset", offset)] where value < 0 {
            throw DataSourceError(
                .invalidRequest,
                "A request of \(Object.entityName) has the \(name) \(value), which is negative. Use 0 or more, or no limit for all objects.",
                entityName: Object.entityName)
        }
    }

    /// Returns a request for at most `count` objects.
    func limited(to count: Int) -> ObjectRequest {
        var request = self
        request.limit = limit.map { min($0, count) } ?? count
        return request
    }
}

/// A value that an update sets for one attribute of all matching objects.
///
/// ```swift
/// try await contacts.update(
///     ContactEntity.self, where: \.age >= 30, set: [.set(\.isFavorite, true)])
/// ```
public struct FetchAssignment<Object: ManagedObject>: Sendable {
    let keyPath: any PartialKeyPath<Object> & Sendable
    let value: RowValue
    let apply: @Sendable (Object) -> Void

    /// Makes an assignment of a value to an attribute.
    ///
    /// ```swift
    /// try await contacts.update(
    ///     ContactEntity.self, where: \.age >= 18,
    ///     set: [.set(\.isFavorite, true), .set(\.note, nil)])
    /// ```
    ///
    /// The setter of the property is called for only one object of each entity, and all objects get the same result. If your
    /// setter depends on the object, set the property in `perform` instead.
    public static func set<Value: AttributeStorable>(
        _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ value: Value
    ) -> FetchAssignment {
        FetchAssignment(keyPath: keyPath, value: value.storedValue.value) { $0[keyPath: keyPath] = value }
    }
}

/// The position at the end of a page of a fetch or list. A cursor stays valid after its object is changed or deleted.
///
/// ```swift
/// let page = try contacts.fetch(request)
/// request.after = page.last.map { FetchCursor($0) }
/// let next = try contacts.fetch(request)
/// ```
public struct FetchCursor: Sendable {
    let stored: StoredRow
    let layout: EntityLayout

    /// Makes a cursor at the position of an object, in the order of the request or list that uses the cursor.
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

/// A request that was checked and translated to the columns of a model.
struct FetchPlan {
    var query: RowQuery
    /// The entities whose objects are included.
    var family: [Int]
    /// A predicate that cannot be evaluated on rows. The fetch evaluates it on objects, and then applies the limit and
    /// the offset.
    var objectPredicate: ObjectPredicate?
    /// The columns whose keys are collected while rows are read. The objects with these keys are read next.
    var linkColumns: [Int] = []

    /// The largest limit and offset. No store has so many rows, and a sum of several such numbers does not overflow.
    private static let maxRows = 1 << 48

    /// - Parameter query: A query of an entity that is not abstract.
    init(_ query: RowQuery) {
        self.query = query
        family = [query.entity]
    }

    init<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, entity: EntityLayout, in model: ModelLayout,
        entitiesWithDeletedObjects: Set<Int> = []
    ) throws(DataSourceError) {
        try request.checkWindow()
        let resolver = PredicateResolver(entity, in: model, entitiesWithDeletedObjects: entitiesWithDeletedObjects)
        let predicate = try request.predicate?.tree.split(resolver) ?? ResolvedPredicate(rows: .constant(true))
        query = RowQuery(entity: entity.index, predicate: predicate.rows)
        objectPredicate = predicate.objects
        for order in request.order { query.sort.append(try order.resolved(resolver)) }
        query.joined = resolver.joins.columns
        query.limit = request.limit.map { min($0, FetchPlan.maxRows) }
        query.offset = min(request.offset, FetchPlan.maxRows)
        family = entity.concreteFamily
        if !request.includesSubentities { family = family.filter { $0 == entity.index } }
        try request.after?.check(entity, in: model)
    }
}

extension FetchCursor {
    /// Checks that the cursor fits an entity.
    ///
    /// - Throws: `invalidPredicate` if the cursor belongs to an object of another entity or of another container.
    func check(_ entity: EntityLayout, in model: ModelLayout) throws(DataSourceError) {
        if entity.concreteFamily.contains(where: { model.entities[$0] === layout }) { return }
        throw DataSourceError(
            .invalidPredicate,
            "The cursor does not fit this request for \(entity.name): it was made from an object of \(layout.name), or in another container. Make the cursor from the last object of the previous page.",
            entityName: entity.name)
    }
}

/// A description of how the store would find the objects of a request.
public struct FetchExplanation: Sendable, Hashable {
    /// The SQL statements, one for each entity, with placeholders for values; empty for a store in memory.
    public var sql: [String]
    /// The steps of the query, as the store describes them.
    public var steps: [String]
    /// The slow parts of the request, each with a remedy if there is one.
    public var warnings: [String]
    /// The relationships that are read together with the objects (``ObjectRequest/prefetch``). Any other relationship
    /// is read at its first use, for up to 1,000 objects of the fetch together.
    public var prefetched: [String] = []
    /// The relationships and the large attributes of the entity that this context has read for one object at a time, with the
    /// number of these reads. A relationship or attribute that was read only once is left out.
    public var readOneByOne: [String: Int] = [:]
}
