internal import Foundation
internal import RowStore

/// What lists need of main.
extension MainContext {
    /// A query for a list, and its key.
    ///
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, `unsupportedQuery`.
    func listQuery<Object: ManagedObject>(
        _ request: ListRequest<Object>
    ) throws(DataSourceError) -> (key: ListKey, query: ListQuery) {
        if let reason = request.predicate?.needsObjects {
            throw DataSourceError(
                .unsupportedQuery,
                "A list of \(Object.entityName) cannot follow its predicate, of which a part has to ask the objects (\(reason)). Compare stored attributes.",
                entityName: Object.entityName)
        }
        let query = try objects.plan(FetchRequest(Object.self, where: request.predicate, sortBy: request.sort)).query
        let sort = query.sort
        let layout = stack.layout.entities[query.entity]
        try objects.checkClass(Object.self, layout.concreteFamily)
        let section = request.section.map { sectionKey($0, layout) }
        let order = ListOrder(layout, sort: sort, section: section)
        let key = ListKey(
            entity: query.entity, predicate: query.predicate, sort: sort, section: request.section?.keyPath,
            limit: request.limit
        )
        return (key, ListQuery(layout, predicate: query.predicate, order: order, limit: request.limit))
    }

    private func sectionKey<Object: ManagedObject>(
        _ path: SectionPath<Object>, _ layout: EntityLayout
    ) -> SectionKey {
        if let column = try? objects.column(path.keyPath, of: Object.self, layout) { return .column(column) }
        let reader = detachedObjects
        return .computed(
            SectionKey.ComputedSection { row in
                guard let object = reader.object(row) as? Object else { return .null }
                return sectionValue(object[keyPath: path.keyPath])
            })
    }

    /// How many queries lists follow; those of one query share one.
    package var followedQueryCount: Int { lists.count }

    /// Has all lists read their rows from the store, as after saves were discarded.
    package func readListsAnew() {
        lists.readAnew(.discard)
        lists.drain()
    }

    /// Returns once no list is at work off the main actor.
    package func listsAreSettled() async {
        await lists.settle()
    }

    /// Makes objects of rows that a list shows, for one reading.
    var detachedObjects: DetachedObjects {
        DetachedObjects(layout: stack.layout, types: objects.bindings.map(\.type))
    }

    // MARK: Objects

    /// The object of a row that a list shows.
    ///
    /// - Parameters:
    ///   - number: The save that the row is of.
    ///   - isBehind: Whether there are newer saves that main has merged but the list has not.
    func object(_ row: ListedRow, asOf number: Int64, isBehind: Bool) -> ManagedObject {
        let binding = objects.bindings[row.entity]
        if !isBehind { return objects.object(row.stored, binding, asOf: number) }
        if let object = binding.objects[row.key] ?? deletedObjects[row.key] { return object }
        guard let (newest, asOf) = try? stack.root.row(entity: row.entity, key: row.key), let newest else {
            return detachedObjects.object(row, .gone)
        }
        return objects.object(StoredRow(key: row.key, row: newest), binding, asOf: asOf)
    }

    /// The object of a row that a list does not show any more.
    ///
    /// - Parameters:
    ///   - row: As it was last shown.
    ///   - change: What happened to it; nil if nothing did, and a limit hides it now.
    func object(
        leaving row: ListedRow, _ change: NetChanges.Change?, asOf number: Int64, isBehind: Bool
    ) -> ManagedObject {
        if let object = deletedObjects[row.key] ?? objects.bindings[row.entity].objects[row.key] { return object }
        guard let change else { return object(row, asOf: number, isBehind: isBehind) }
        guard let newest = change.newest else { return detachedObjects.object(row, .gone) }
        let now = ListedRow(entity: row.entity, key: row.key, row: newest)
        return object(now, asOf: number, isBehind: isBehind)
    }
}

/// Objects that belong to no context: each is made from a row to be read at once. They can be made anywhere.
struct DetachedObjects: Sendable {
    let layout: ModelLayout
    /// By entity.
    let types: [ManagedObject.Type]

    func object(_ row: ListedRow, _ state: ObjectState = .saved) -> ManagedObject {
        types[row.entity].init(
            ManagedObjectSeed(
                layout: layout.entities[row.entity], key: row.key, row: row.row, context: nil, state: state,
                isEditable: false, asOf: 0))
    }
}

/// What an app asks a list to show.
struct ListRequest<Object: ManagedObject>: Sendable {
    var predicate: FetchPredicate?
    var sort: [SortDescriptor<Object>]
    var section: SectionPath<Object>?
    /// At least 1.
    var limit: Int?

    init(
        _ predicate: FetchPredicate?, _ sort: [SortDescriptor<Object>],
        _ section: PartialKeyPath<Object>?,
        _ limit: Int?
    ) {
        self.predicate = predicate
        self.sort = sort
        self.section = section.map { SectionPath(keyPath: $0) }
        self.limit = limit.map { max(1, $0) }
    }
}

/// A key path to what parts a list into sections.
///
/// Guarded by: nothing, as it never changes; it would have to bear a reference as the index of a subscript for that not to
/// be enough, and sections are no place for one.
struct SectionPath<Object: ManagedObject>: @unchecked Sendable {
    let keyPath: PartialKeyPath<Object>
}

/// The value of a computed property as sections are compared by.
private func sectionValue(_ value: Any) -> RowValue {
    switch value {
    case let value as any AttributeStorable: value.storedValue.value
    case let value as Substring: .text(String(value))
    case let value as Character: .text(String(value))
    default: .text(String(describing: value))
    }
}
