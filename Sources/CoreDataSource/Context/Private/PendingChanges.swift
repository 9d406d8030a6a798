internal import QueryLanguage
internal import RowStore

/// The changes of a batch to the objects of one data source, which ``SaveCompleting/willSave(_:in:)`` gets.
///
/// ```swift
/// nonisolated func willSave(
///     _ changes: PendingChanges, in context: PrivateContext
/// ) throws {
///     for change in try changes.of(ContactEntity.self)
///     where change.kind != .delete {
///         change.object.initial = String(change.object.name.prefix(1))
///     }
///     for group in try changes.owners(of: \GroupEntity.members) {
///         group.memberCount = Int32(group.members.count)
///     }
/// }
/// ```
///
/// Each call of the hook gets the changes since its last call in the same batch. The first call gets the changes since the last
/// save.
///
/// **Isolation**: the queue of the private context. The changes are valid only during the call that gets them.
public struct PendingChanges {
    /// Describes an update or a deletion of more than 16,384 rows, if the store is about to make this change. Usually empty.
    /// Only a store in an SQLite file makes such changes, if the store is not shared and has no history.
    ///
    /// ```swift
    /// for change in changes.bulk {
    ///     if let request = change.request(for: ContactEntity.self) {
    ///         print(try context.count(request))
    ///     }
    /// }
    /// ```
    ///
    /// If this array is not empty, the rows have not become objects, and the reads of the hook show the rows before the change.
    /// If the hook reads these descriptions and edits nothing, the store makes the change in one statement.
    ///
    /// If the hook calls ``of(_:)`` or ``owners(of:)`` for objects that the change may affect, the call throws. After such a
    /// call, or after any edit, the edits of the hook are discarded, and each row of the change becomes an object of about
    /// 1,000 bytes. Then the hook is called again, like in any other batch, and `bulk` is empty. So if `bulk` is not empty,
    /// the hook should change only the context.
    public let bulk: [Bulk]
    private let context: PrivateContext
    private let changes: [ObjectChange]
    private let trial: BulkTrial?

    init(_ context: PrivateContext, _ changes: [ObjectChange], bulk: [Bulk] = [], _ trial: BulkTrial? = nil) {
        self.context = context
        self.changes = changes
        self.bulk = bulk
        self.trial = trial
    }

    /// Returns the inserted, updated and deleted objects of a class and its subclasses. Objects of other data sources are left
    /// out.
    ///
    /// ```swift
    /// for change in try changes.of(ContactEntity.self)
    /// where change.kind == .delete {
    ///     print("\(change.object.name) goes")
    /// }
    /// ```
    ///
    /// **Ordering**: the order in which the batch first changed the objects.
    ///
    /// An object that was inserted and deleted since the last call is left out.
    ///
    /// - Parameter type: The class of the objects; `ManagedObject.self` for all objects.
    /// - Complexity: O(n) in the number of changes. Nothing is read from the store.
    /// - Throws: `unknownEntity`. If ``bulk`` may affect these objects, an error that the hook must rethrow.
    public func of<Object: ManagedObject>(_ type: Object.Type) throws -> [Change<Object>] {
        let isAny = type == ManagedObject.self
        let family = isAny ? nil : context.bindings[try context.entity(of: type)].layout.concreteFamily
        if let trial, family?.contains(where: trial.family.contains) ?? true { try trial.requireObjects() }
        return changes.compactMap { change in
            guard change.object.layout.links == nil, let object = change.object as? Object else { return nil }
            return Change(object, change)
        }
    }

    /// Returns the objects whose relationship has gained or lost objects; each object once. A deleted object leaves all its
    /// relationships.
    ///
    /// ```swift
    /// for group in try changes.owners(of: \GroupEntity.members) {
    ///     group.memberCount = Int32(group.members.count)
    /// }
    /// ```
    ///
    /// The relationship can be to-one or to-many, and can have a join table. An owner is found if this data source owns the row
    /// that stores the link. For a link in a join table, it is enough if this data source owns one of the two linked objects.
    /// Deleted owners are left out. In a save that reverts a record of the history, all changed owners are included, because
    /// the record may have values that were calculated from other links.
    ///
    /// - Parameter relationship: A relationship of the model.
    /// - Complexity: O(n) in the number of changes, and one query for the unregistered owners of each entity.
    /// - Throws: `unknownAttribute` for another property; `unknownEntity`; errors of the store. If ``bulk`` has a deletion, an
    ///   error that the hook must rethrow.
    public func owners<Object: ManagedObject>(of relationship: PartialKeyPath<Object>) throws -> [Object] {
        let layout = context.bindings[try context.entity(of: Object.self)].layout
        guard let name = Object.relationshipKeyPaths[relationship], let index = layout.relationship(named: name) else {
            throw DataSourceError(
                .unknownAttribute,
                "owners(of:) was called with a property of \(Object.self) that is not a relationship of the model. Use a property that relationshipKeyPaths of \(Object.self) lists.",
                entityName: layout.name)
        }
        // An update of attributes changes no links, so only a deletion needs objects.
        if let trial, trial.isDeletion { try trial.requireObjects() }
        var found = changes.ends(of: layout.relationships[index], context.stack.layout)
            .filter { layout.concreteFamily.contains($0.entity) }
        if context.isReverting {
            // The hook may have calculated the old values of an owner from links that have changed since.
            let known = Set(found)
            found += changes.lazy.filter { layout.concreteFamily.contains($0.object.layout.index) && !$0.isDeletion }
                .map { LinkEnd($0.object) }.filter { !known.contains($0) }
        }
        return try context.reading { () throws(DataSourceError) in
            try context.readObjects(found)
            return found.compactMap { context.cachedObject($0).flatMap(\.self) as? Object }
        }
    }
}

@available(*, unavailable, message: "Pending changes stay in their context. Pass values instead.")
extension PendingChanges: Sendable {}

extension PendingChanges {
    /// The change of one object.
    public struct Change<Object: ManagedObject> {
        /// What has happened to an object since the last call of the hook in the batch.
        public enum Kind: Sendable, Hashable {
            /// The object is new.
            case insert
            /// Values or links of the object have changed.
            case update
            /// The save deletes the object. Its values can still be read.
            case delete
        }

        /// The object. The hook may edit the object unless it is deleted.
        public let object: Object
        private let change: ObjectChange

        init(_ object: Object, _ change: ObjectChange) {
            self.object = object
            self.change = change
        }

        /// What has happened to the object since the last call of the hook in the batch.
        public var kind: Kind {
            if change.isDeletion { return .delete }
            return change.previous == nil ? .insert : .update
        }

        /// The names of the attributes and relationships whose values differ. For an inserted or deleted object, the names of
        /// the properties with a value.
        ///
        /// If a link is to-one on one side and to-many on the other side, the object on the to-one side stores the link. Only
        /// this object lists its relationship here. ``PendingChanges/owners(of:)`` finds the objects of the to-many side.
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
            // The names of a composite attribute's parts begin with the name of the composite attribute.
            return properties.contains { $0 == name || $0.hasPrefix(name + ".") }
        }

        /// The value of a property before the change; nil for an inserted object.
        ///
        /// ```swift
        /// for change in try changes.of(ContactEntity.self) {
        ///     guard change.kind == .update, change.changes(\.name) else { continue }
        ///     change.object.note = change.previous(\.name).map { "once \($0)" }
        /// }
        /// ```
        ///
        /// In the first call of the hook, the result is the saved value. In later calls, it is the value at the last call. A
        /// to-one relationship to an object that the batch has deleted is nil. A to-many relationship is nil.
        ///
        /// - Parameter property: An attribute, a to-one relationship whose link the object's row stores, or a property that is
        ///   calculated from these properties.
        /// - Complexity: Constant; for a relationship, one query if the related object is not registered.
        public func previous<Value>(_ property: KeyPath<Object, Value>) -> Value? {
            if Value.self is any RelatedCollection.Type { return nil }
            guard let former else { return nil }
            let value = former[keyPath: property]
            // The object with the former values must not leave this function.
            return (value as? ManagedObject) === former ? nil : value
        }

        /// The value of an optional attribute or a to-one relationship before the change; nil for an inserted object.
        public func previous<Value>(_ property: KeyPath<Object, Value?>) -> Value? {
            former.flatMap { $0[keyPath: property] }
        }

        /// A read-only object with the former values. The context does not know this object.
        private var former: Object? {
            change.previous.map { row in
                let home = ObjectHome(object.layout, in: object.home.context, .readOnly)
                return Object.make(home, key: object.key, row: row, .saved, asOf: .beforeFirst)
            }
        }
    }

    /// An update or a deletion of more than 16,384 rows, which the store makes in one statement.
    public struct Bulk {
        /// The name of the entity. Objects of its sub-entities may be among the rows.
        public let entityName: String
        /// The names of the attributes that get new values; empty for a deletion.
        public let attributes: [String]
        /// Whether the rows are deleted.
        public let isDeletion: Bool
        /// The request for the rows; nil for all rows of the entity.
        private let request: Any?
        /// An object that has the new values and belongs to no context; nil for a deletion.
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

        /// The request for the changed objects; nil if the change was made with another class.
        ///
        /// ```swift
        /// for change in changes.bulk {
        ///     if let request = change.request(for: ContactEntity.self) {
        ///         print(try context.count(request))
        ///     }
        /// }
        /// ```
        ///
        /// - Parameter type: The class that was passed to the update or the deletion.
        public func request<Object: ManagedObject>(for type: Object.Type) -> ObjectRequest<Object>? {
            guard let request else { return type.entityName == entityName ? ObjectRequest(type) : nil }
            return request as? ObjectRequest<Object>
        }

        /// The new value of an attribute; nil if the change does not set the attribute.
        ///
        /// ```swift
        /// let becomesFavorite = change.value(of: \ContactEntity.isFavorite) == true
        /// ```
        ///
        /// - Parameter attribute: An attribute of the class that was passed to the update.
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

/// The change of an object since the last call of ``SaveCompleting/willSave(_:in:)`` in the batch.
struct ObjectChange {
    let object: ManagedObject
    /// The row before the change; nil for a new object.
    let previous: RowSnapshot?
    /// The row when the hook was called.
    let row: RowSnapshot
    let isDeletion: Bool

    /// The columns that differ. For a new or deleted object, the columns that are not null.
    var columns: [Int] {
        let columns = object.layout.columns
        guard let previous, !isDeletion else {
            return columns.indices.filter { !(previous ?? row).isNull($0) }
        }
        return columns.indices.filter { !row.isEqual(to: previous, column: $0, storage: columns[$0].storage) }
    }
}

extension [ObjectChange] {
    /// Returns the owners of a relationship whose links have changed; each owner once.
    fileprivate func ends(of relationship: RelationshipLayout, _ layout: ModelLayout) -> [LinkEnd] {
        let owners = layout.entity(named: relationship.path.entity)?.concreteFamily ?? []
        var found: [LinkEnd] = []
        var known: Set<LinkEnd> = []
        func add(_ end: LinkEnd?) { if let end, known.insert(end).inserted { found.append(end) } }
        func compare(_ change: ObjectChange, _ column: LinkColumns) {
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
