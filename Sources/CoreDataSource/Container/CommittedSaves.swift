public import RowStore

extension PersistentContainer {
    /// The saves that are committed from now on, in the order of the commits. This sequence replaces Core Data's
    /// did-save notification.
    ///
    /// ```swift
    /// for await event in container.saves {
    ///     switch event {
    ///     case .save(let save):
    ///         for change in try save.changes(of: ContactEntity.self) {
    ///             print(change.kind, change.id)
    ///         }
    ///     case .unknown(let changes):
    ///         // Nil means all entities.
    ///         print("read again:", changes.entityNames ?? ["everything"])
    ///     }
    /// }
    /// ```
    ///
    /// Each access makes a new sequence, for one loop. The sequence contains the saves of all data sources, and in a
    /// shared store the saves of other processes. A save enters the sequence once the save is in the store, even if
    /// the main context shows the save earlier. The sequence contains no refused saves. Nothing is stored for the
    /// sequence; without a loop, the sequence costs nothing.
    ///
    /// For a loop that is slower than the saves, at most 1,024 saves or 16 MB of rows wait. If more saves come, all
    /// waiting saves are replaced by one ``SaveEvent/unknown(_:)``, which names their entities.
    ///
    /// The sequence ends when the container is closed, after the last save. The sequence does not keep the store open:
    /// if the container is released without a `close()`, the sequence of a shared store may lack the last saves.
    ///
    /// In a shared store, all processes get the saves in the same order. On a server, a sequence may begin with saves
    /// that this container made shortly before the sequence was made.
    ///
    /// **Isolation**: none.
    public var saves: CommittedSaves {
        CommittedSaves(
            stack.root.subscribeToSaves(), DetachedObjectFactory(layout: stack.layout, types: stack.types))
    }
}

/// The sequence of the commits of a container, for one loop: ``PersistentContainer/saves``.
public struct CommittedSaves: AsyncSequence, Sendable {
    private let subscription: SaveSubscription
    private let objects: DetachedObjectFactory

    init(_ subscription: SaveSubscription, _ objects: DetachedObjectFactory) {
        self.subscription = subscription
        self.objects = objects
    }

    /// Begins the loop. If two loops use one sequence, each of them gets only some of the saves. So access
    /// ``PersistentContainer/saves`` for each loop.
    ///
    /// ```swift
    /// var iterator = container.saves.makeAsyncIterator()
    /// let first = await iterator.next()
    /// ```
    public func makeAsyncIterator() -> Iterator { Iterator(saves: self) }

    /// Returns the commits one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let saves: CommittedSaves

        /// Waits for the next commit, and returns the commit; nil if the task is canceled, or if the container is
        /// closed or released.
        ///
        /// ```swift
        /// if case .save(let save) = await iterator.next() { print(save.entityNames) }
        /// ```
        public mutating func next() async -> SaveEvent? {
            switch await saves.subscription.mailbox.next() {
            case .save(let changes): .save(CommittedSave(changes, saves.objects))
            case .unknown(let reason, let entities): .unknown(saves.objects.layout.unknownChanges(reason, entities))
            case nil: nil
            }
        }
    }
}

/// A commit of ``PersistentContainer/saves``.
public enum SaveEvent: Sendable {
    /// A save whose changes are known.
    case save(CommittedSave)
    /// Changes that are not known one by one. Read the objects of the named entities again, or all objects if no entities are
    /// named.
    case unknown(UnknownChanges)
}

/// A save that is in the store.
///
/// The save is a value: it can be sent anywhere, and never changes. It shares its rows with the container. As long as you
/// keep the save, its rows stay in memory.
public struct CommittedSave: Sendable {
    private let saved: ChangeSet
    private let objects: DetachedObjectFactory

    init(_ saved: ChangeSet, _ objects: DetachedObjectFactory) {
        self.saved = saved
        self.objects = objects
    }

    /// The container or process that made the save; nil for this container.
    public var member: StoreMember? { saved.member }

    /// The author of the save: ``PersistentContainer/withAuthor(_:isolation:_:)``, or else `Configuration.author`. Nil for
    /// none. A save of another process also has its author, unless that process runs a release before 0.2.
    ///
    /// ```swift
    /// for await case .save(let save) in container.saves where save.author != "sync" {
    ///     print(save.author ?? "-", save.dataSourceName ?? "-", save.entityNames)
    /// }
    /// ```
    public var author: String? { saved.facts?.author }
    /// The class name of the data source that made the save. For a save of several data sources, the name of the first one.
    public var dataSourceName: String? { saved.facts?.dataSourceName }
    /// The kind of work that made the changes, such as ``HistoryKind/incoming``; nil if it is not known.
    public var kind: HistoryKind? { saved.facts?.kind }

    /// The names of the entities of the changed objects, in the order of the model.
    public var entityNames: [String] {
        entities.map { objects.layout.entities[$0.entity].name }
    }

    /// The changed relationships with a join table, such as `ContactEntity.groups`, in the order of the model: many-to-many
    /// relationships, and to-many relationships without an inverse. If only such a link was changed, the linked objects do not
    /// count as changed.
    public var changedRelationships: [String] {
        saved.entities.compactMap { objects.layout.entities[$0.entity].links }.map { "\($0.entity).\($0.name)" }
    }

    /// The changes of the objects of a class and its subclasses: for each entity the inserts, then the updates, and then the
    /// deletes.
    ///
    /// ```swift
    /// for change in try save.changes(of: ContactEntity.self)
    /// where change.changedProperties.contains("name") {
    ///     print(change.old?.name ?? "-", change.new?.name ?? "-")
    /// }
    /// ```
    ///
    /// **Complexity**: O(*n*) for *n* changed objects.
    ///
    /// - Parameter type: The class; `ManagedObject` for the changes of all objects.
    /// - Throws: `unknownEntity` if the class is not in the model.
    public func changes<Object: ManagedObject>(of type: Object.Type) throws -> [SavedChange<Object>] {
        let family = type == ManagedObject.self ? nil : try objects.layout.entity(of: type).concreteFamily
        let objects = objects.readable(as: type)
        var all: [SavedChange<Object>] = []
        for changes in entities where family?.contains(changes.entity) ?? true {
            for row in changes.inserted {
                all.append(SavedChange(entity: changes.entity, from: nil, to: row, objects))
            }
            for row in changes.updated {
                let (old, new) = (StoredRow(key: row.key, row: row.previous), StoredRow(key: row.key, row: row.row))
                all.append(SavedChange(entity: changes.entity, from: old, to: new, columns: row.columns, objects))
            }
            for row in changes.deleted {
                all.append(SavedChange(entity: changes.entity, from: row, to: nil, objects))
            }
        }
        return all
    }

    /// The changes of links.
    var linkRows: [EntityChanges] { saved.entities.filter { layout.entities[$0.entity].links != nil } }
    var layout: ModelLayout { objects.layout }

    /// The changes of objects, without the changes of links.
    private var entities: [EntityChanges] {
        saved.entities.filter { objects.layout.entities[$0.entity].links == nil }
    }
}

extension CommittedSave: CustomStringConvertible {
    /// The numbers of changed objects: `3 inserted, 1 updated, 0 deleted`, the author, and the process that made the save.
    public var description: String {
        let counts = [
            ("inserted", entities.reduce(0) { $0 + $1.inserted.count }),
            ("updated", entities.reduce(0) { $0 + $1.updated.count }),
            ("deleted", entities.reduce(0) { $0 + $1.deleted.count }),
        ]
        return counts.map { "\($1) \($0)" }.joined(separator: ", ") + (author.map { ", author \($0)" } ?? "")
            + (member.map { " by \($0)" } ?? "")
    }
}

/// The change of one object in a ``CommittedSave``.
public struct SavedChange<Object: ManagedObject>: Sendable, Identifiable {
    /// The kind of a change.
    public enum Kind: String, Sendable, Hashable {
        /// The object is new.
        case insert
        /// Attributes or to-one relationships of the object changed.
        case update
        /// The object was deleted.
        case delete
    }

    /// The values before the save; nil for an insert. Relationships cannot be read from this value: call ``link(_:)`` instead.
    /// Large values that an update did not change may be missing: see ``omittedProperties``.
    public let old: ListRow<Object>?
    /// The values after the save; nil for a delete. As in ``old``, relationships cannot be read, and large values that an
    /// update did not change may be missing.
    public let new: ListRow<Object>?
    private let layout: EntityLayout
    private let key: Int64
    private let columns: ColumnSet?

    fileprivate init(
        entity: Int, from old: StoredRow?, to new: StoredRow?, columns: ColumnSet? = nil,
        _ objects: DetachedObjectFactory
    ) {
        func row(_ stored: StoredRow) -> ListRow<Object> {
            ListRow(row: ListedRow(entity: entity, stored: stored), reader: objects)
        }
        self.old = old.map(row)
        self.new = new.map(row)
        self.columns = columns
        layout = objects.layout.entities[entity]
        key = (new ?? old)?.key ?? 0
    }

    /// The kind of the change.
    public var kind: Kind { old == nil ? .insert : new == nil ? .delete : .update }

    /// The ID of the object.
    public var id: ManagedObjectID { ManagedObjectID(layout, key: key) }

    /// The name of the object's entity.
    public var entityName: String { layout.name }

    /// The names of the attributes and to-one relationships that an update changed; empty for an insert or a delete.
    ///
    /// **Complexity**: one test for each attribute and each to-one relationship.
    public var changedProperties: Set<String> {
        guard let columns else { return [] }
        return Set(layout.columns.indices.filter(columns.contains).map(layout.propertyName))
    }

    /// The names of the attributes whose large values are missing in ``old`` and ``new``, because the update did not change
    /// them: attributes with `allowsExternalBinaryDataStorage`, in records of the kept history. Such an attribute reads as nil.
    /// If its property is not optional, it reads as empty data, or as the zero of its type. To get the value, fetch the object
    /// by its ``id``.
    ///
    /// ```swift
    /// if change.omittedProperties.contains("photo") {
    ///     photo = try container.main.object(ContactEntity.self, id: change.id)?.photo
    /// }
    /// ```
    ///
    /// **Complexity**: one test for each attribute that can have such a value.
    public var omittedProperties: Set<String> {
        guard kind == .update, let row = old?.row.stored.row else { return [] }
        return Set(layout.deferredColumns.filter(row.isDeferred).map(layout.propertyName))
    }
}

extension SavedChange {
    /// The objects to which a to-one relationship led before and after the save.
    ///
    /// ```swift
    /// let group = change.link("group")
    /// print(group.old ?? "none", group.new ?? "none")
    /// ```
    ///
    /// - Parameter name: The name of the relationship.
    /// - Returns: The IDs of the objects; nil for no object, and for a relationship whose links are stored in other objects or
    ///   in rows of their own.
    public func link(_ name: String) -> (old: ManagedObjectID?, new: ManagedObjectID?) {
        guard let index = layout.relationship(named: name), let reader = (new ?? old)?.reader,
            case .column(let column) = layout.relationships[index].storage
        else { return (nil, nil) }
        let family = layout.relationships[index].destinationFamily
        func id(_ row: ListRow<Object>?) -> ManagedObjectID? {
            row.flatMap { reader.layout.linkedID($0.row.stored.row, column, family) }
        }
        return (id(old), id(new))
    }
}

extension DetachedObjectFactory {
    /// Returns a factory that uses the given class for each entity whose class is unknown. The class is unknown as long as no
    /// data source lists the entity.
    fileprivate func readable(as type: ManagedObject.Type) -> DetachedObjectFactory {
        DetachedObjectFactory(layout: layout, types: types.map { $0 == ManagedObject.self ? type : $0 })
    }
}

extension UnknownChanges {
    /// Whether objects of a class or of its subclasses may have changed.
    ///
    /// ```swift
    /// if changes.mayInclude(ContactEntity.self) { try reloadContacts() }
    /// ```
    ///
    /// - Parameter type: The class; `ManagedObject` for any objects.
    public func mayInclude(_ type: ManagedObject.Type) -> Bool {
        entityNames == nil || type == ManagedObject.self || lineages.contains(type.entityName)
    }
}

extension ModelLayout {
    fileprivate func unknownChanges(_ reason: UnknownChanges.Reason, _ indexes: Set<Int>?) -> UnknownChanges {
        // Links have no entity. An app reads the objects at their ends again.
        let names = indexes.map { Set($0.flatMap(objectEntities).map { entities[$0].name }) }
        let changed = model.entities.filter { names?.contains($0.name) ?? false }
        let lineages = changed.flatMap { model.lineage(of: $0).map(\.name) }
        return UnknownChanges(reason: reason, entityNames: names, lineages: Set(lineages))
    }
}

extension EntityLayout {
    /// The name of the attribute or relationship whose value is in a column.
    fileprivate func propertyName(ofColumn column: Int) -> String {
        let relationship = relationships.first { relationship in
            guard case .column(let link) = relationship.storage else { return false }
            return [link.key, link.entity, link.position].contains(column)
        }
        return relationship?.name ?? columns[column].name
    }
}
