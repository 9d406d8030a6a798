internal import RowStore

/// The unsaved changes of one data source in a batch. The library passes them to ``EntityDataSource/willSave(_:in:)``.
///
/// ```swift
/// nonisolated override func willSave(
///     _ changes: PendingChanges, in context: PrivateContext
/// ) throws {
///     for change in try changes.of(ContactEntity.self)
///     where change.kind != .deleted {
///         change.object.initial = String(change.object.name.prefix(1))
///     }
///     for group in try changes.owners(of: \GroupEntity.members) {
///         group.memberCount = Int32(group.members.count)
///     }
/// }
/// ```
///
/// The changes are collected when the hook first reads them. A hook that does not read the changes costs nothing.
///
/// **Isolation**: the queue of the private context. The changes are valid only during the call of the hook.
public struct PendingChanges {
    private let context: PrivateContext
    /// Updates and deletions of more than 16,384 rows. No objects are made of these rows.
    public let bulk: [Bulk]

    init(_ context: PrivateContext, bulk: [Bulk]) {
        self.context = context
        self.bulk = bulk
    }

    /// The inserted, updated and deleted objects of a class and its subclasses, in the order of their first change.
    ///
    /// ```swift
    /// for change in try changes.of(ContactEntity.self)
    /// where change.kind == .deleted {
    ///     print("\(change.object.name) goes")
    /// }
    /// ```
    ///
    /// In the first call of the hook in a batch, these are all changes of the batch; in later calls, the changes since the last
    /// call. An object that was inserted and deleted between two calls is left out.
    ///
    /// - Parameter type: The class of the objects; `ManagedObject.self` for all objects.
    /// - Complexity: O(n) in the number of changed objects of the data source. Nothing is read from the store.
    /// - Throws: `unknownEntity`.
    public func of<Object: ManagedObject>(_ type: Object.Type) throws -> [Change<Object>] {
        if type != ManagedObject.self { _ = try context.entity(of: type) }
        return try context.unseen().compactMap { change in
            guard change.object.layout.links == nil, let object = change.object as? Object else { return nil }
            return Change(object, change)
        }
    }

    /// The objects whose relationship has gained or lost objects, without duplicates. A deleted object counts as lost.
    ///
    /// ```swift
    /// for group in try changes.owners(of: \GroupEntity.members) {
    ///     group.memberCount = Int32(group.members.count)
    /// }
    /// ```
    ///
    /// The relationship can be to-one or to-many, with or without a join table. A link counts only if this data source owns the
    /// row that stores the link. Deleted owners are left out.
    ///
    /// - Parameter relationship: A relationship of the model.
    /// - Complexity: O(n) in the number of changed objects of the data source, and one query for the unregistered objects of
    ///   each entity.
    /// - Throws: `unknownAttribute` for another property; `unknownEntity`; errors of the store.
    public func owners<Object: ManagedObject>(of relationship: PartialKeyPath<Object>) throws -> [Object] {
        let layout = context.bindings[try context.entity(of: Object.self)].layout
        guard let name = Object.relationshipKeyPaths[relationship], let index = layout.relationship(named: name) else {
            throw DataSourceError(
                .unknownAttribute,
                "owners(of:) was called with a property of \(Object.self) that is not a relationship of the model. Use a property that relationshipKeyPaths of \(Object.self) lists.",
                entityName: layout.name)
        }
        let found = try context.unseen().ends(of: layout.relationships[index], context.stack.layout)
            .filter { layout.concreteFamily.contains($0.entity) }
        return try context.reading { () throws(DataSourceError) in
            try context.readObjects(found)
            return found.compactMap { context.known($0).flatMap(\.self) as? Object }
        }
    }
}

@available(*, unavailable, message: "Pending changes stay in their context. Pass values instead.")
extension PendingChanges: Sendable {}

extension PendingChanges {
    /// The change of one object.
    public struct Change<Object: ManagedObject> {
        /// The kinds of changes that a batch makes to an object between two calls of the hook.
        public enum Kind: Sendable, Hashable {
            /// The object is new.
            case inserted
            /// Values or links of the object have changed.
            case updated
            /// The object will be deleted. Its values stay readable.
            case deleted
        }

        /// The object, which the hook may edit unless it is deleted.
        public let object: Object
        private let change: ObjectChange

        init(_ object: Object, _ change: ObjectChange) {
            self.object = object
            self.change = change
        }

        /// The kind of the change.
        public var kind: Kind {
            if change.isDeletion { return .deleted }
            return change.previous == nil ? .inserted : .updated
        }

        /// The names of the attributes and relationships whose values have changed. For an inserted or a deleted object, the
        /// names of all attributes and relationships that are not nil.
        ///
        /// The links of a relationship are stored on one side; if only one side is to-one, on that side. Only the changes of
        /// objects on that side name the relationship. ``PendingChanges/owners(of:)`` finds the objects on the other side.
        public var properties: [String] {
            change.columns.compactMap { column in
                let name = object.layout.columns[column].name
                let isProperty =
                    object.layout.columns[column].attribute != nil || object.layout.relationship(named: name) != nil
                return isProperty ? name : nil
            }
        }

        /// Whether a property is among the ``properties``.
        ///
        /// ```swift
        /// let renamed = try changes.of(ContactEntity.self)
        ///     .filter { $0.changes(\.name) }
        /// ```
        ///
        /// - Parameter property: An attribute, a composite attribute, or a relationship whose links the object's row stores.
        public func changes(_ property: PartialKeyPath<Object>) -> Bool {
            guard let name = Object.attributeKeyPaths[property] ?? Object.relationshipKeyPaths[property] else {
                return false
            }
            // The names of a composite's parts begin with the name of the composite.
            return properties.contains { $0 == name || $0.hasPrefix(name + ".") }
        }

        /// The value of an attribute or a to-one relationship before the change; nil for an inserted object.
        ///
        /// ```swift
        /// for change in try changes.of(ContactEntity.self) {
        ///     guard change.kind == .updated, change.changes(\.name) else { continue }
        ///     change.object.note = change.previous(\.name).map { "once \($0)" }
        /// }
        /// ```
        ///
        /// In the first call of the hook, the result is the saved value; in later calls, the value at the last call. A
        /// relationship to an object that was deleted meanwhile is nil.
        ///
        /// - Parameter property: An attribute, or a to-one relationship whose link the object's row stores.
        /// - Complexity: Constant; for a relationship, one query if the related object is not registered.
        public func previous<Value>(_ property: KeyPath<Object, Value>) -> Value? {
            previousObject.map { $0[keyPath: property] }
        }

        /// The value of an optional attribute or a to-one relationship before the change; nil for an inserted object.
        public func previous<Value>(_ property: KeyPath<Object, Value?>) -> Value? {
            previousObject.flatMap { $0[keyPath: property] }
        }

        /// An object with the previous values. The object is not registered in the context.
        private var previousObject: Object? {
            change.previous.map { Object.make(object.home, key: object.key, row: $0, .saved, asOf: 0) }
        }
    }

    /// An update or a deletion of more than 16,384 rows.
    ///
    /// The store still has the old rows when the hook runs. If the hook edits nothing, the store makes the change by itself if
    /// possible, and no row is loaded. If the hook edits objects, the change and the edits become one save; the rows are then
    /// kept in memory, about 500 bytes each, but no objects are made of the rows. If the hook edits one of the rows, the
    /// attributes that the hook sets keep the hook's values.
    public struct Bulk {
        /// The name of the entity. Objects of its sub-entities may be among the rows.
        public let entityName: String
        /// The names of the attributes that get new values; empty for a deletion.
        public let attributes: [String]
        /// Whether the rows are deleted.
        public let isDeletion: Bool
        /// The request for the rows; nil for all rows of the entity.
        private let request: Any?
        /// An object outside any context, with the new values; nil for a deletion.
        private let sample: ManagedObject?

        init<Object: ManagedObject>(
            _ layout: EntityLayout, _ predicate: FetchPredicate<Object>?, _ columns: [Int] = [],
            sample: Object? = nil
        ) {
            entityName = layout.name
            attributes = columns.sorted().map { layout.columns[$0].name }
            isDeletion = sample == nil
            request = ObjectRequest(Object.self, where: predicate)
            self.sample = sample
        }

        /// The deletion of all objects of an entity.
        init(deletionOf layout: EntityLayout) {
            (entityName, attributes, isDeletion, request, sample) = (layout.name, [], true, nil, nil)
        }

        /// The request for the objects that the change applies to; nil if the change was made with another class.
        ///
        /// ```swift
        /// for change in changes.bulk {
        ///     if let request = change.request(for: ContactEntity.self) {
        ///         print(try context.count(request))
        ///     }
        /// }
        /// ```
        ///
        /// - Parameter type: The class that the update or the deletion named.
        public func request<Object: ManagedObject>(for type: Object.Type) -> ObjectRequest<Object>? {
            guard let request else { return type.entityName == entityName ? ObjectRequest(type) : nil }
            return request as? ObjectRequest<Object>
        }

        /// The new value of an attribute; nil if the change does not set it.
        ///
        /// ```swift
        /// let becomesFavorite = change.value(of: \ContactEntity.isFavorite) == true
        /// ```
        ///
        /// - Parameter attribute: An attribute of the class that the update named.
        public func value<Object: ManagedObject, Value>(of attribute: KeyPath<Object, Value>) -> Value? {
            guard let sample = sample as? Object, let name = Object.attributeKeyPaths[attribute],
                attributes.contains(name)
            else { return nil }
            return sample[keyPath: attribute]
        }
    }
}

@available(*, unavailable, message: "Changes stay in their context. Pass values instead.")
extension PendingChanges.Change: Sendable {}

@available(*, unavailable, message: "Changes stay in their context. Pass values instead.")
extension PendingChanges.Bulk: Sendable {}

/// The change of an object since ``EntityDataSource/willSave(_:in:)`` was last called.
struct ObjectChange {
    let object: ManagedObject
    /// The row before the change; nil for a new object.
    let previous: RowSnapshot?
    /// The row when the hook read the changes.
    let row: RowSnapshot
    let isDeletion: Bool

    /// The columns whose values differ. For a new or a deleted object, the columns that are not null.
    var columns: [Int] {
        let columns = object.layout.columns
        guard let previous, !isDeletion else {
            return columns.indices.filter { !(previous ?? row).isNull($0) }
        }
        return columns.indices.filter { !row.isEqual(to: previous, column: $0, storage: columns[$0].storage) }
    }
}

extension [ObjectChange] {
    /// The objects on one side of a relationship whose links have changed, without duplicates.
    fileprivate func ends(of relationship: RelationshipLayout, _ layout: ModelLayout) -> [LinkEnd] {
        let owners = layout.entity(named: relationship.path.entity)?.concreteFamily ?? []
        var found: [LinkEnd] = []
        var known: Set<LinkEnd> = []
        func add(_ end: LinkEnd?) { if let end, known.insert(end).inserted { found.append(end) } }
        func compare(_ change: ObjectChange, _ column: LinkColumn) {
            let (before, now) = (change.previous, change.isDeletion ? nil : change.row)
            let ends = (before?.end(column, owners), now?.end(column, owners))
            let position = { (row: RowSnapshot?) in
                row.flatMap { row in column.position.map { row.value($0, .integer) } }
            }
            if ends.0 == ends.1, position(before) == position(now) { return }
            add(ends.0)
            add(ends.1)
        }
        for change in self {
            switch relationship.storage {
            case .column(let column):
                guard owners.contains(change.object.layout.index), change.columns.contains(column.key) else { continue }
                add(LinkEnd(entity: change.object.layout.index, key: change.object.key))
            case .inverseColumn(let column):
                if relationship.destinationFamily.contains(change.object.layout.index) { compare(change, column) }
            case .pairs(let pairs):
                guard change.object.layout.index == pairs.layout else { continue }
                compare(change, pairs.own)
                if relationship.isSymmetric { compare(change, pairs.other) }
            case .none: break
            }
        }
        return found
    }
}
