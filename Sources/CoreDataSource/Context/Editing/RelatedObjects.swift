internal import Foundation
package import QueryLanguage
internal import RowStore

/// The set of objects that a to-many relationship leads to. The set is read at its first use.
///
/// ```swift
/// thread.messages.insert(message)
/// for message in try thread.messages.sorted(by: [.descending(\.date)]) {
///     print(message.subject)
/// }
/// print(thread.messages.count)
/// ```
///
/// The set always shows the current links, including links that were set through the inverse relationship.
///
/// If the links cannot be read, the set is empty. The save, or ``PersistentContainer/read(_:)``, then throws the error.
/// In the main context, ``PersistentContainer/failures`` reports the error.
///
/// **Isolation**: the isolation of the object's context. In the main context and in `container.read`, the set is
/// read-only: a change traps.
public struct RelatedObjects<Object: ManagedObject> {
    private let owner: ManagedObject
    private let index: Int

    init(_ owner: ManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
    }

    private var ends: [LinkEnd] { owner.readingFromContext(at: index) { try $0.ends(of: owner, at: index) } ?? [] }

    /// The number of objects.
    ///
    /// - Complexity: The first use makes one query for up to 1,000 owners that were fetched together. Later uses take constant
    ///   time. No objects are read, with one exception: after a deletion in a batch or a draft, the objects of a many-to-many
    ///   relationship are read.
    public var count: Int { ends.count }

    /// Whether there are no objects.
    ///
    /// - Complexity: The same as for ``count``.
    public var isEmpty: Bool { ends.isEmpty }

    /// The ids of the objects, in the order of creation. The ids are `Sendable`.
    ///
    /// - Complexity: O(n) in the number of objects. The queries are the same as for ``count``.
    public var ids: [ManagedObjectID] {
        let ends = ends
        guard let layout = owner.context?.stack.layout else { return [] }
        return ends.map { ManagedObjectID(layout.entities[$0.entity], key: $0.key) }
    }

    /// Whether the set contains an object.
    ///
    /// ```swift
    /// if thread.messages.contains(message) { print(message.subject) }
    /// ```
    ///
    /// - Complexity: O(n) in the number of objects. The queries are the same as for ``count``.
    public func contains(_ object: Object) -> Bool {
        ends.contains(LinkEnd(entity: object.layout.index, key: object.key))
    }

    /// Returns the objects in the given order. Objects that compare equal come in the order of creation.
    ///
    /// ```swift
    /// names += try group.members.sorted(by: [.descending(\.name)]).map(\.name)
    /// ```
    ///
    /// - Complexity: O(n log n) in the number of objects, and one query for the unregistered objects.
    /// - Throws: `unknownAttribute`; `invalidPredicate` if an attribute has no order; errors of the store.
    public func sorted(by order: [FetchOrder<Object>]) throws -> [Object] {
        let objects: [Object] = owner.relatedList(at: index)
        guard let context = owner.context, !objects.isEmpty else { return objects }
        let layout = context.stack.layout.entities[owner.layout.relationships[index].destination]
        let resolver = PredicateResolver(
            layout, in: context.stack.layout, entitiesWithDeletedObjects: context.entitiesWithDeletedObjects)
        let sort = try order.map { try $0.resolved(resolver) }
        let columns = sort.map(\.column)
        let stored = objects.map { StoredRow(key: $0.key, row: $0.row(with: columns)) }
        let rows = try context.filled(stored, resolver.joins.columns)
        return rows.indices.sorted { rows[$0].precedes(rows[$1], by: sort, layout) }.map { objects[$0] }
    }

    // MARK: Changing

    /// Adds an object. Does nothing if the set contains the object.
    ///
    /// ```swift
    /// thread.messages.insert(message)
    /// ```
    ///
    /// If the inverse relationship is to-one, the object leaves its previous owner. If another data source owns the row that
    /// stores the link, the save throws `entityNotOwned`.
    public func insert(_ object: Object) { owner.linkEditor(index)?.insert([object]) }

    /// Adds objects.
    ///
    /// ```swift
    /// brothers.members.insert(
    ///     contentsOf: try context.fetch(ContactEntity.self, where: \.age < 18))
    /// ```
    public func insert(contentsOf objects: some Sequence<Object>) { owner.linkEditor(index)?.insert(Array(objects)) }

    /// Removes an object from the set. The object is not deleted.
    ///
    /// ```swift
    /// for member in brothers.members where member.name == "Zhang Fei" {
    ///     brothers.members.remove(member)
    /// }
    /// ```
    public func remove(_ object: Object) { owner.linkEditor(index)?.remove(object) }

    /// Removes all objects from the set. No object is deleted.
    ///
    /// ```swift
    /// thread.messages.removeAll()
    /// ```
    ///
    /// - Complexity: O(n) in the number of objects, and one query for the unregistered objects.
    public func removeAll() { set([]) }

    /// Replaces the objects of the set. No object is deleted.
    ///
    /// ```swift
    /// thread.messages.set(
    ///     try context.fetch(MessageEntity.self, where: \.subject == "Oath"))
    /// ```
    ///
    /// - Complexity: O(n) in the number of current and new objects, and one query for the unregistered objects. If the
    ///   relationship is ordered, O(n log n).
    public func set(_ objects: some Sequence<Object>) { owner.linkEditor(index)?.set(Array(objects)) }
}

extension RelatedObjects: Sequence {
    /// Iterates over the objects in the order of creation. A change of the set during the loop does not affect the loop.
    ///
    /// ```swift
    /// for message in thread.messages { print(message.subject) }
    /// ```
    ///
    /// - Complexity: O(n) in the number of objects, and one query for the unregistered objects.
    public func makeIterator() -> IndexingIterator<[Object]> {
        let objects: [Object] = owner.relatedList(at: index)
        return objects.makeIterator()
    }

    public var underestimatedCount: Int { 0 }
}

@available(*, unavailable, message: "Related objects stay in their context. Pass their ids, or values, instead.")
extension RelatedObjects: Sendable {}

extension RelatedObjects: CustomStringConvertible {
    /// The ids of the objects: `[MessageEntity/3, MessageEntity/7]`.
    public var description: String { "\(ids)" }
}

extension RelatedObjects: RelatedCollection {
    package static var object: any QueriedObject.Type { Object.self }
    package static var counting: AnyKeyPath { \Self.count }
    package static var emptiness: AnyKeyPath { \Self.isEmpty }
}

/// Aggregates can be grouped by a to-many relationship. An object is then in the group of each of its related objects, and in
/// no group if it has no related objects.
extension RelatedObjects: GroupableProperty {
    public static func groupKey(of value: GroupValue) throws -> ManagedObjectID { try Object.groupKey(of: value) }

    public static func groupKeyIfPresent(of value: GroupValue) throws -> ManagedObjectID? { value.id }
}

/// The least and the greatest value of an attribute of the objects. They can be read from an object, and used in the key
/// paths of queries: `\ThreadEntity.messages[max: \.date]`.
extension RelatedObjects {
    /// The greatest value of an attribute; nil if there are no objects. Strings are compared byte by byte.
    ///
    /// In `values`, in a sort order and in an aggregate, the store calculates the value without making objects:
    ///
    /// ```swift
    /// let threads = try context.values(
    ///     ObjectRequest<ThreadEntity>(), \.title, \.messages.count,
    ///     \.messages[max: \.date])
    /// ```
    ///
    /// - Complexity: If the value is read from an object, O(n) in the number of related objects, and one query for those that
    ///   are not registered.
    public subscript<Value: AttributeStorable>(max keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(of: map { $0[keyPath: keyPath] }, isGreatest: true)
    }

    /// The greatest value of an optional attribute; nil if no object has a value.
    ///
    /// - Complexity: The same as for an attribute that is not optional.
    public subscript<Value: AttributeStorable>(max keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(of: compactMap { $0[keyPath: keyPath] }, isGreatest: true)
    }

    /// The least value of an attribute; nil if there are no objects. Strings are compared byte by byte.
    ///
    /// - Complexity: The same as for the greatest value.
    public subscript<Value: AttributeStorable>(min keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(of: map { $0[keyPath: keyPath] }, isGreatest: false)
    }

    /// The least value of an optional attribute; nil if no object has a value.
    ///
    /// - Complexity: The same as for an attribute that is not optional.
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
    /// The key paths to values that are calculated from the objects. Each comes with the parts of its name in a format string,
    /// for example `@max` and `date`.
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

/// Access to relationships by index, for generated code and for classes that are written by hand.
///
/// An index is a position among the relationships of the entity: first the inherited relationships, then the entity's own
/// relationships in the order of the model.
extension ManagedObject {
    /// Returns the object that a to-one relationship leads to; nil if there is none.
    ///
    /// ```swift
    /// var thread: ThreadEntity? {
    ///     get { relatedObject(at: 1) }
    ///     set { setRelatedObject(newValue, at: 1) }
    /// }
    /// ```
    ///
    /// The result is also nil if the related object was deleted with the rule No Action, or if the container is
    /// deinitialized. If the link cannot be read, the result is nil. The save, or ``PersistentContainer/read(_:)``,
    /// then throws the error. In the main context, ``PersistentContainer/failures`` reports the error.
    ///
    /// **Isolation**: the isolation of the object's context.
    ///
    /// - Complexity: The first use makes one query for up to 1,000 objects that were fetched together. Later uses take constant
    ///   time.
    public final func relatedObject<Object: ManagedObject>(at index: Int) -> Object? {
        if let found = home.registeredDestination(of: self, at: index) {
            if type(of: found) == Object.self { return unsafeDowncast(found, to: Object.self) }
            if let found = found as? Object { return found }
        }
        // If the context does not know the class of the destination's entity yet, `adopt` gives it the class.
        return readingFromContext(at: index) { context in
            try context.adopt(Object.self, relationship(at: index, isToMany: false))
            return try context.destination(of: self, at: index)
        } as? Object
    }

    /// Sets the object of a to-one relationship. The inverse relationship changes too.
    ///
    /// ```swift
    /// var thread: ThreadEntity? {
    ///     get { relatedObject(at: 1) }
    ///     set { setRelatedObject(newValue, at: 1) }
    /// }
    /// ```
    ///
    /// The link is stored in the row of one of the two objects. If another data source owns this row, the save throws
    /// `entityNotOwned`.
    public final func setRelatedObject<Object: ManagedObject>(_ object: Object?, at index: Int) {
        _ = relationship(at: index, isToMany: false)
        linkEditor(index)?.set(object)
    }

    /// The objects of a to-many relationship.
    ///
    /// ```swift
    /// var messages: RelatedObjects<MessageEntity> { relatedObjects(at: 0) }
    /// ```
    public final func relatedObjects<Object: ManagedObject>(at index: Int) -> RelatedObjects<Object> {
        _ = relationship(at: index, isToMany: true)
        return RelatedObjects(self, index)
    }

    /// Returns the objects of an ordered to-many relationship, in the order of the relationship.
    ///
    /// ```swift
    /// var attachments: [AttachmentEntity] {
    ///     get { relatedList(at: 0) }
    ///     set { setRelatedList(newValue, at: 0) }
    /// }
    /// ```
    ///
    /// - Complexity: O(n) in the number of objects, and one query for the unregistered objects.
    public final func relatedList<Object: ManagedObject>(at index: Int) -> [Object] {
        readingFromContext(at: index) { context in
            let relationship = relationship(at: index, isToMany: true)
            try context.adopt(Object.self, relationship)
            return context.typed(try context.relatedObjects(of: self, at: index), relationship)
        } ?? []
    }

    /// Sets the objects of an ordered to-many relationship, and their order. If an object occurs twice, its first position
    /// counts.
    ///
    /// ```swift
    /// var attachments: [AttachmentEntity] {
    ///     get { relatedList(at: 0) }
    ///     set { setRelatedList(newValue, at: 0) }
    /// }
    /// ```
    ///
    /// - Complexity: O(n log n) in the number of current and new objects, and one query for the unregistered objects.
    public final func setRelatedList<Object: ManagedObject>(_ objects: [Object], at index: Int) {
        _ = relationship(at: index, isToMany: true)
        linkEditor(index)?.set(objects)
    }

    /// Runs a read in the context. Returns nil if there is no context, or if the read fails.
    ///
    /// - Parameter relationship: The relationship that is read; nil for a derived attribute.
    final func readingFromContext<R>(
        at relationship: Int? = nil, _ body: (ManagedObjectContext) throws -> R?
    ) -> R? {
        guard let context else {
            hasUsedRelationshipWithoutContext = true
            if let relationship { home.unreadRelationship = relationship }
            return nil
        }
        do {
            return try body(context)
        } catch {
            context.recordReadFailure(error)
            return nil
        }
    }

    /// Returns the editor of a relationship's links; nil if the object is deleted or has no context. Traps for a read-only
    /// object.
    final func linkEditor(_ index: Int) -> LinkEditor? {
        let name = layout.relationships[index].name
        precondition(
            editing != .readOnly,
            "\(layout.name).\(name) was set on an object of a read-only context. Edit the object in a hook or in perform { } of its data source."
        )
        if editing == .inDraft { draft.checkInBatch() }
        if isDeleted {
            context?.refuseEditOfDeleted(self, of: name)
            return nil
        }
        hasUsedRelationshipWithoutContext = hasUsedRelationshipWithoutContext || context == nil
        return (context as? EditingContext).map { LinkEditor($0, self, index) }
    }
}
