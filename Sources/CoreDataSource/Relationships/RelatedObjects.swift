package import QueryLanguage
internal import RowStore

/// The objects of a to-many relationship: a set, which is read when it is first used.
///
/// ```swift
/// thread.messages.insert(message)
/// for message in thread.messages.sorted(by: [.descending(\.date)]) { print(message.subject) }
/// print(thread.messages.count)
/// ```
///
/// It always shows the current links, including those that were made on the other side.
///
/// **Isolation**: that of the object's context. On main it is read-only: changing it traps.
public struct RelatedObjects<Object: ManagedObject> {
    private let owner: ManagedObject
    private let index: Int

    init(_ owner: ManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
    }

    private var ends: [LinkEnd] { owner.following { try $0.ends(of: owner, at: index) } ?? [] }

    /// How many objects there are. No object is read, unless a batch or a draft has to find out which objects of a many-to-many
    /// relationship are deleted.
    ///
    /// - Complexity: The first time one query for up to 1,000 owners that were fetched together; then constant.
    public var count: Int { ends.count }

    /// Whether there are none.
    public var isEmpty: Bool { ends.isEmpty }

    /// The ids of the objects, in the order of their creation. No object is read, with the exception of ``count``.
    public var ids: [ManagedObjectID] {
        let ends = ends
        guard let layout = owner.context?.stack.layout else { return [] }
        return ends.map { ManagedObjectID(layout.entities[$0.entity], key: $0.key) }
    }

    /// Whether the object is one of them.
    ///
    /// - Complexity: O(n) in the number of objects.
    public func contains(_ object: Object) -> Bool {
        ends.contains(LinkEnd(entity: object.layout.index, key: object.key))
    }

    /// The objects in an order; those that compare equal come in the order of their creation.
    ///
    /// - Complexity: O(n log n) in the number of objects, and one query for those that are not registered.
    /// - Throws: `unknownAttribute`, `invalidPredicate` for an order without a column, and what the store throws.
    public func sorted(by order: [FetchOrder<Object>]) throws -> [Object] {
        let objects: [Object] = owner.relatedList(at: index)
        guard let context = owner.context, !objects.isEmpty else { return objects }
        let layout = context.stack.layout.entities[owner.layout.relationships[index].destination]
        let resolver = PredicateResolver(layout, in: context.stack.layout, withGoneObjects: context.withGoneObjects)
        let sort = try order.map { try $0.resolved(resolver) }
        let columns = sort.map(\.column)
        let stored = objects.map { StoredRow(key: $0.key, row: $0.row(with: columns)) }
        let rows = try context.filled(stored, resolver.joins.columns)
        return rows.indices.sorted { rows[$0].precedes(rows[$1], by: sort, layout) }.map { objects[$0] }
    }

    // MARK: Changing

    /// Adds an object. Does nothing if it is already one of them.
    ///
    /// If the other side is to-one, the object leaves its previous owner.
    public func insert(_ object: Object) { owner.linking(index)?.insert([object]) }

    /// Adds objects.
    public func insert(contentsOf objects: some Sequence<Object>) { owner.linking(index)?.insert(Array(objects)) }

    /// Removes an object; it is not deleted.
    public func remove(_ object: Object) { owner.linking(index)?.remove(object) }

    /// Removes all objects.
    public func removeAll() { set([]) }

    /// Makes these the objects of the relationship, and removes all others.
    public func set(_ objects: some Sequence<Object>) { owner.linking(index)?.set(Array(objects)) }
}

extension RelatedObjects: Sequence {
    /// Visits the objects in the order of their creation, as they were when the loop began.
    public func makeIterator() -> IndexingIterator<[Object]> {
        let objects: [Object] = owner.relatedList(at: index)
        return objects.makeIterator()
    }

    public var underestimatedCount: Int { 0 }
}

@available(*, unavailable, message: "Related objects stay in their context. Pass their ids, or values, instead.")
extension RelatedObjects: Sendable {}

extension RelatedObjects: CustomStringConvertible {
    /// The ids: `[MessageEntity/3, MessageEntity/7]`.
    public var description: String { "\(ids)" }
}

extension RelatedObjects: RelatedCollection {
    package static var object: any QueriedObject.Type { Object.self }
    package static var counting: AnyKeyPath { \Self.count }
    package static var emptiness: AnyKeyPath { \Self.isEmpty }
}
