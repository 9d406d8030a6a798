public import Foundation
internal import RowStore

/// Which objects to fetch, in what order, and which part of the result.
///
/// ```swift
/// var request = FetchRequest(ContactEntity.self, where: \.age >= 18)
/// request.order = [.ascending(\.name, [.caseInsensitive, .numeric])]
/// request.limit = 50
/// let page = try contacts.fetch(request)
/// request.after = page.last.map { FetchCursor($0) }
/// let next = try contacts.fetch(request)
/// ```
///
/// A request is a value: it can be kept, changed and sent anywhere. It is checked when it is used.
public struct FetchRequest<Object: ManagedObject>: Sendable {
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
    func limited(to count: Int) -> FetchRequest {
        var request = self
        request.limit = limit.map { min($0, count) } ?? count
        return request
    }
}
