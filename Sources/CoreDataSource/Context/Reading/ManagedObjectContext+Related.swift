internal import RowStore

/// Reads relationships of objects.
///
/// Unregistered destinations are read together for all objects that were fetched together.
extension ManagedObjectContext {
    /// Returns the destination of a to-one relationship; nil if there is none, or if the destination was deleted.
    func destination(of object: ManagedObject, at index: Int) throws -> ManagedObject? {
        let relationship = object.layout.relationships[index]
        guard case .column(let column) = relationship.storage else {
            return try relatedObjects(of: object, at: index).first
        }
        for _ in 0..<ManagedObjectContext.tries {
            guard let end = object.row.end(column, relationship.destinationFamily) else { return nil }
            if let cachedObject = cachedObject(end) {
                if editing == .readOnly, column.entity == nil, relationship.destinationFamily.count == 1 {
                    object.home.setDestination(bindings[end.entity].objects, column: column.key, at: index)
                }
                return cachedObject
            }
            try followingRelationship { () throws(DataSourceError) in
                let near = groupMembers(of: object)
                if near.count == 1 {
                    let key = EntityRelationship(entity: object.layout.index, relationship: index)
                    recordReadingOne(key)
                    diagnoseReadingOne(key, of: object)
                }
                try readDestinations(of: near, column, relationship)
            }
        }
        return object.row.end(of: relationship).flatMap { registeredObject($0) }
    }

    /// Returns the objects of a relationship, in the order of the relationship. If the relationship is not ordered, the objects
    /// come in the order of creation.
    func relatedObjects(of object: ManagedObject, at index: Int) throws -> [ManagedObject] {
        if case .column = object.layout.relationships[index].storage {
            return try destination(of: object, at: index).map { [$0] } ?? []
        }
        var ends = try ends(of: object, at: index)
        var tries = 0
        while tries < ManagedObjectContext.tries, ends.contains(where: { cachedObject($0) == nil }) {
            tries += 1
            try followingRelationship { () throws(DataSourceError) in try readObjects(ends, andThoseNear: object, index)
            }
            ends = try self.ends(of: object, at: index)
        }
        return ends.compactMap { registeredObject($0) }
    }

    /// Returns the ends of a to-many relationship, without making objects.
    func ends(of object: ManagedObject, at index: Int) throws -> [LinkEnd] {
        let ends = try linkedEnds(of: object, at: index)
        let relationship = object.layout.relationships[index]
        // Only links in pair rows can refer to deleted objects. Other links are deleted together with their rows.
        guard editing != .readOnly, case .pairs = relationship.storage,
            relationship.destinationFamily.contains(where: mayHaveGoneObjects)
        else { return ends }
        let unknown = ends.filter { cachedObject($0) == nil }
        if !unknown.isEmpty { try followingRelationship { () throws(DataSourceError) in try readObjects(unknown) } }
        return ends.filter { registeredObject($0) != nil }
    }

    /// Like ``ends(of:at:)``, but includes ends whose objects this batch has deleted.
    private func linkedEnds(of object: ManagedObject, at index: Int) throws -> [LinkEnd] {
        willUse(object.layout.relationships[index], of: object)
        let key = EntityRelationship(entity: object.layout.index, relationship: index)
        if let known = related[key, object.key] { return known }
        return try followingRelationship { () throws(DataSourceError) in
            while related[key, object.key] == nil {
                let near = groupMembers(of: object, object.group?.endWindow ?? 1)
                if near.count == 1 { recordReadingOne(key) }
                let owners = near.filter { related[key, $0.key] == nil }
                if owners.count == 1 { diagnoseReadingOne(key, of: object) }
                if try readEnds(of: owners, index, key) { break }
                // There are too many ends, so read the ends of fewer objects together.
                object.group?.endWindow = owners.count / 8
            }
            return related[key, object.key] ?? []
        }
    }

    /// The largest number of tries, if the objects or the links change during a read.
    private static let tries = 8

    /// Runs a read of relationships. Repeats the read if the cache of links was cleared during the read.
    private func followingRelationship<R>(_ body: () throws(DataSourceError) -> R) throws -> R {
        isFollowingRelationship = true
        defer { isFollowingRelationship = false }
        var result = try reading(body)
        for _ in 1..<ManagedObjectContext.tries {
            let removals = related.removals
            didFollowRelationship()
            if related.removals == removals { break }
            result = try reading(body)
        }
        return result
    }

    /// If the model names no class for the destination of a relationship, uses the given class.
    func adopt(_ type: ManagedObject.Type, _ relationship: RelationshipLayout) throws(DataSourceError) {
        let editor = editor(ofEntity: relationship.destination)
        guard editor.bindings[relationship.destination].type == ManagedObject.self else { return }
        if type != ManagedObject.self, !type.entityName.isEmpty { _ = try editor.entity(of: type) }
    }

    /// Returns the registered object of an end. The outer optional is nil if the store must be read. The inner optional is nil
    /// if the object does not exist.
    func cachedObject(_ end: LinkEnd) -> ManagedObject?? {
        let binding = editor(ofEntity: end.entity).bindings[end.entity]
        if let object = binding.objects[end.key] { return .some(object.isDeleted ? nil : object) }
        if binding.hasAllRows || related.isMissing(end) { return .some(nil) }
        return nil
    }

    /// Returns the registered object of an end; nil if the object does not exist, or if the store must be read.
    func registeredObject(_ end: LinkEnd) -> ManagedObject? { cachedObject(end) ?? nil }

    /// Returns the object, and registered objects of the same entity that were fetched together with the object.
    private func groupMembers(of object: ManagedObject, _ window: Int = FetchGroup.window) -> [ManagedObject] {
        guard let group = object.group, window > 1 else { return [object] }
        let entity = object.layout.index
        var found = [object]
        for index in group.indexes(near: Int(object.groupIndex), window) where group.entity(at: index) == entity {
            guard let other = bindings[entity].objects[group.keys[index]], other !== object, !other.isDeleted else {
                continue
            }
            found.append(other)
        }
        return found
    }

    // MARK: Reading

    /// Reads the prefetched relationships of a request, for all objects of the request.
    func prefetch<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, _ objects: [ManagedObject]
    ) throws(DataSourceError) {
        for keyPath in request.prefetch {
            guard let name = Object.relationshipKeyPaths[keyPath] else {
                throw DataSourceError(
                    .unknownAttribute,
                    "A request of \(Object.entityName) prefetches a property that is not a relationship of the model. Use a property that relationshipKeyPaths of \(Object.self) lists.",
                    entityName: Object.entityName)
            }
            let isMixed =
                FetchGroup.of(objects)?.isUniform != true && objects.contains { $0.layout !== objects[0].layout }
            let groups =
                isMixed
                ? Dictionary(grouping: objects, by: \.layout.index) : objects.first.map { [$0.layout.index: objects] }
            for (entity, objects) in (groups ?? [:]).sorted(by: { $0.key < $1.key }) {
                guard let index = bindings[entity].layout.relationship(named: name) else { continue }
                try prefetch(index, objects)
            }
        }
    }

    /// Returns the link columns of the request's prefetched to-one relationships that lead to exactly one entity.
    func linkColumns<Object: ManagedObject>(_ request: ObjectRequest<Object>, _ entity: EntityLayout) -> [Int] {
        // Even without key paths, the loop below looks up generic types, which costs more than reading a row.
        if request.prefetch.isEmpty { return [] }
        return request.prefetch.compactMap { keyPath in
            guard let name = Object.relationshipKeyPaths[keyPath], let index = entity.relationship(named: name),
                case .column(let column) = entity.relationships[index].storage, column.entity == nil,
                entity.relationships[index].destinationFamily.count == 1
            else { return nil }
            return column.key
        }
    }

    /// Reads a relationship of objects of one entity.
    func prefetch(_ index: Int, _ objects: [ManagedObject]) throws(DataSourceError) {
        guard let first = objects.first else { return }
        let relationship = first.layout.relationships[index]
        if case .column(let column) = relationship.storage {
            return try readDestinations(of: objects, column, relationship)
        }
        let key = EntityRelationship(entity: first.layout.index, relationship: index)
        try readEnds(of: objects, at: index) { part throws(DataSourceError) in
            try readObjects(part.lazy.flatMap { self.related[key, $0.key] ?? [] }, for: first.group)
        }
    }

    /// Reads the ends of a to-many relationship for objects of one entity. Each read covers as many objects as possible.
    ///
    /// - Parameter body: Called with the objects of each read.
    func readEnds(
        of objects: [ManagedObject], at index: Int,
        _ body: (ArraySlice<ManagedObject>) throws(DataSourceError) -> Void
    ) throws(DataSourceError) {
        guard let first = objects.first else { return }
        let key = EntityRelationship(entity: first.layout.index, relationship: index)
        var window = FetchGroup.window
        var start = 0
        while start < objects.count {
            let part = objects[start..<min(start + window, objects.count)]
            guard try readEnds(of: part.filter { related[key, $0.key] == nil }, index, key) else {
                window = max(1, window / 8)
                continue
            }
            start += part.count
            try body(part)
        }
    }

    private func readDestinations(
        of objects: [ManagedObject], _ column: LinkColumns, _ relationship: RelationshipLayout
    ) throws(DataSourceError) {
        let group = objects.first?.group
        guard column.entity == nil, relationship.destinationFamily.count == 1 else {
            return try readObjects(
                Set(objects.lazy.compactMap { $0.row.end(column, relationship.destinationFamily) }), for: group)
        }
        var keys = FetchGroup.of(objects)?.takeLinkKeys(column.key)
        if keys == nil {
            var links = LinkKeys(column: column.key)
            for object in objects { links.add(object.row) }
            keys = links.keys
        }
        let entity = relationship.destinationFamily[0]
        try readObjects((keys ?? []).lazy.map { LinkEnd(entity: entity, key: $0) }, for: group)
    }

    /// Registers the objects of the given ends, with one query for each entity.
    ///
    /// - Parameter group: The group that needs the objects. A context without a data source keeps the objects alive as
    ///   long as the group exists.
    func readObjects(_ ends: some Sequence<LinkEnd>, for group: FetchGroup? = nil) throws(DataSourceError) {
        var wanted: [Int: Set<Int64>] = [:]
        for end in ends where cachedObject(end) == nil { wanted[end.entity, default: []].insert(end.key) }
        for (entity, keys) in wanted.sorted(by: { $0.key < $1.key }) {
            let objects = try editor(ofEntity: entity).readObjects(Array(keys), ofEntity: entity)
            if owner == nil, let group { related.keep(objects, for: group) }
            guard objects.count < keys.count else { continue }
            let found = Set(objects.map(\.key))
            for key in keys where !found.contains(key) {
                related.recordMissing(LinkEnd(entity: entity, key: key))
            }
        }
    }

    /// Registers the objects of the given ends, and some destinations of objects that were fetched together with `object`.
    private func readObjects(
        _ ends: [LinkEnd], andThoseNear object: ManagedObject, _ index: Int
    ) throws(DataSourceError) {
        let key = EntityRelationship(entity: object.layout.index, relationship: index)
        var wanted = ends
        for other in groupMembers(of: object) where other !== object && wanted.count < FetchGroup.window {
            wanted += related[key, other.key] ?? []
        }
        try readObjects(wanted, for: object.group)
    }

    /// Reads the ends of a to-many relationship for some objects.
    ///
    /// - Returns: False if the ends of all these objects together reach the limit. In this case, no ends are cached.
    private func readEnds(
        of owners: [ManagedObject], _ index: Int, _ key: EntityRelationship
    ) throws(DataSourceError) -> Bool {
        guard let first = owners.first else { return true }
        let keys = ValueList(owners.map { .integer($0.key) }, .natural)
        let found = try readEnds(
            first.layout.relationships[index], of: first.layout.index, keys,
            limit: owners.count == 1 ? nil : ManagedObjectContext.endLimit,
            isStoreRead: !owners.allSatisfy(\.hasOnlyUnsavedLinks))
        guard let found else { return false }
        related.insert(Dictionary(owners.map { ($0.key, found[LinkEnd($0)] ?? []) }) { first, _ in first }, key)
        return true
    }

    /// The limit for the number of ends that are read for several objects together. So many ends need about 8 MB.
    private static let endLimit = 1 << 17

    /// Returns the ends of a relationship by their owners, in the order of the relationship; nil if the limit is
    /// reached. Owners without links are not in the result.
    ///
    /// - Parameters:
    ///   - entity: The entity of the owners.
    ///   - keys: The keys of the owners.
    ///   - isStoreRead: Whether links in the store are included; false if the owners can have no such links.
    func readEnds(
        _ relationship: RelationshipLayout, of entity: Int, _ keys: ValueList, limit: Int? = nil,
        isStoreRead: Bool = true
    ) throws(DataSourceError) -> [LinkEnd: [LinkEnd]]? {
        var found = FoundLinks()
        for source in relationship.linkSources {
            var query = RowQuery(
                entity: source.layout, predicate: source.ownerColumns.leads(to: entity, keys),
                budget: QueryBudget(isCancellable: isCancellable))
            query.limit = limit
            let context = editor(ofEntity: source.layout)
            let rows = try context.linkRows(query, columns: source.columns, isStoreRead: isStoreRead)
            if let limit, found.count + rows.count >= limit { return nil }
            found.add(rows, of: source, owners: [entity])
        }
        // A draft and another save may have made the same link.
        return found.byOwner(mayHaveDoubleLinks: editing == .inDraft)
    }

    /// Returns the ends of a relationship by their owners, without making objects. Owners without links are not in the result.
    ///
    /// - Parameters:
    ///   - owners: Objects of one entity.
    ///   - keys: The keys of the owners.
    func ends(
        of relationship: RelationshipLayout, from owners: [ManagedObject], keys: ValueList
    ) throws -> [LinkEnd: [LinkEnd]] {
        guard case .column = relationship.storage else {
            return try reading { () throws(DataSourceError) in
                try readEnds(relationship, of: owners[0].layout.index, keys) ?? [:]
            }
        }
        let links = owners.compactMap { owner in owner.row.end(of: relationship).map { (LinkEnd(owner), [$0]) } }
        return Dictionary(links) { first, _ in first }
    }
}

extension ManagedObject {
    /// Whether all links to the object are unsaved edits: the object is new in this batch, and all new objects of the batch
    /// have new keys. False in a draft, because the save of the draft may already have stored links to its new objects.
    final var hasOnlyUnsavedLinks: Bool {
        guard state == .inserted, let context else { return false }
        return context.editing != .inDraft && !context.hasGivenKeys
    }
}
