internal import Foundation
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

/// The least and the greatest value of the objects, in code and along key paths: `\ThreadEntity.messages[max: \.date]`.
extension RelatedObjects {
    /// The greatest value of an attribute; nil if there are no objects. Strings are compared by their bytes.
    ///
    /// In `values`, in an order and in an aggregate, the store calculates it, and no object is made:
    ///
    /// ```swift
    /// let threads = try context.values(ObjectRequest<ThreadEntity>(), \.title, \.messages.count, \.messages[max: \.date])
    /// ```
    ///
    /// - Complexity: O(n) in the number of objects, and one query for those that are not registered.
    public subscript<Value: AttributeStorable>(max keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(of: map { $0[keyPath: keyPath] }, isGreatest: true)
    }

    /// The greatest value of an optional attribute; nil if no object has a value.
    public subscript<Value: AttributeStorable>(max keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(of: compactMap { $0[keyPath: keyPath] }, isGreatest: true)
    }

    /// The least value of an attribute; nil if there are no objects. Strings are compared by their bytes.
    ///
    /// - Complexity: As for the greatest value.
    public subscript<Value: AttributeStorable>(min keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(of: map { $0[keyPath: keyPath] }, isGreatest: false)
    }

    /// The least value of an optional attribute; nil if no object has a value.
    public subscript<Value: AttributeStorable>(min keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(of: compactMap { $0[keyPath: keyPath] }, isGreatest: false)
    }

    /// Compares the stored forms of the values, as the store does.
    private func extreme<Value: AttributeStorable>(of values: [Value], isGreatest: Bool) -> Value? {
        let order: ValueOrder = Value.self == Decimal.self ? .decimal : .natural
        var found: (value: Value, stored: RowValue)?
        for value in values {
            let stored = value.storedValue.value
            if stored == .null { continue }
            if let found, let order = order.compare(stored, found.stored), isGreatest ? order <= 0 : order >= 0 {
                continue
            }
            found = (value, stored)
        }
        return found?.value
    }
}

extension RelatedObjects {
    /// The key paths to values that are calculated from the objects, with their names.
    package static var aggregates: [(keyPath: AnyKeyPath, names: [String])] {
        var found: [(keyPath: AnyKeyPath, names: [String])] = [(\Self.count, ["@count"])]
        for (keyPath, name) in AttributeNames.of(Object.self) {
            for (extreme, function) in extremes(keyPath) {
                found.append((extreme, [function] + name.parts(separatedBy: ".", omittingEmpty: true)))
            }
        }
        return found
    }

    private static func extremes(_ keyPath: AnyKeyPath) -> [(AnyKeyPath, String)] {
        let type = type(of: keyPath).valueType
        let wrapped = (type as? any AnyOptional.Type)?.wrapped ?? type
        return (wrapped as? any AttributeStorable.Type).map { extremes(keyPath, $0) } ?? []
    }

    private static func extremes<Value: AttributeStorable>(
        _ keyPath: AnyKeyPath, _ type: Value.Type
    ) -> [(AnyKeyPath, String)] {
        switch keyPath {
        case let keyPath as KeyPath<Object, Value>: [(\Self[max: keyPath], "@max"), (\Self[min: keyPath], "@min")]
        case let keyPath as KeyPath<Object, Value?>: [(\Self[max: keyPath], "@max"), (\Self[min: keyPath], "@min")]
        default: []
        }
    }
}

/// Relationships of an object, by their indexes among those of its entity: inherited ones first, each entity's in the order of
/// the model. For generated code, and for classes that are written by hand.
extension ManagedObject {
    /// The object that a to-one relationship leads to; nil for none.
    ///
    /// Also nil if the related object is gone, as after a deletion with the rule No Action, and if the owner has no context any
    /// more. If a link cannot be read, the result is nil too, and the save or the read then throws; on main,
    /// ``PersistentContainer/failures`` reports it.
    ///
    /// **Isolation**: that of the object's context.
    ///
    /// - Complexity: The first time one query for up to 1,000 objects that were fetched together; then constant.
    public final func relatedObject<Object: ManagedObject>(at index: Int) -> Object? {
        if let found = home.registeredDestination(of: self, at: index) {
            if type(of: found) == Object.self { return unsafeDowncast(found, to: Object.self) }
            if let found = found as? Object { return found }
        }
        // The context may yet learn which class the entity has.
        return following { context in
            try context.adopt(Object.self, relationship(at: index, isToMany: false))
            return try context.destination(of: self, at: index)
        } as? Object
    }

    /// Sets the object of a to-one relationship. The other side changes at once.
    ///
    /// The link is stored in the row of one side. If another data source owns that row, the save throws `entityNotOwned`.
    public final func setRelatedObject<Object: ManagedObject>(_ object: Object?, at index: Int) {
        _ = relationship(at: index, isToMany: false)
        linking(index)?.set(object)
    }

    /// The objects that a to-many relationship leads to.
    public final func relatedObjects<Object: ManagedObject>(at index: Int) -> RelatedObjects<Object> {
        _ = relationship(at: index, isToMany: true)
        return RelatedObjects(self, index)
    }

    /// The objects that an ordered to-many relationship leads to, in its order.
    public final func relatedList<Object: ManagedObject>(at index: Int) -> [Object] {
        following { context in
            let relationship = relationship(at: index, isToMany: true)
            try context.adopt(Object.self, relationship)
            return context.typed(try context.relatedObjects(of: self, at: index), relationship)
        } ?? []
    }

    /// Sets the objects of an ordered to-many relationship, and their order. An object that comes twice has its first place.
    public final func setRelatedList<Object: ManagedObject>(_ objects: [Object], at index: Int) {
        _ = relationship(at: index, isToMany: true)
        linking(index)?.set(objects)
    }

    /// Reads through the context; nil if there is none, and if reading fails.
    final func following<R>(_ body: (ManagedObjectContext) throws -> R?) -> R? {
        guard let context else {
            hasFollowed = true
            return nil
        }
        do {
            return try body(context)
        } catch {
            context.noteReadFailure(error)
            return nil
        }
    }

    /// The editor of the links of a relationship; nil if there is no context.
    final func linking(_ index: Int) -> LinkEditor? {
        let name = layout.relationships[index].name
        precondition(
            editing != .not,
            "\(layout.name).\(name) was set on an object of a read-only context. Edit the object in a hook or in perform { } of its data source."
        )
        if editing == .inDraft { draft.checkInBatch() }
        if isDeleted {
            context?.refuse(
                DataSourceError(
                    .objectGone,
                    "\(layout.name).\(name) was set on a deleted object. Insert a new object.",
                    entityName: layout.name, attributeName: name))
            return nil
        }
        hasFollowed = hasFollowed || context == nil
        return (context as? EditingContext).map { LinkEditor($0, self, index) }
    }
}
