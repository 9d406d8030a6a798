internal import RowStore

/// The pair rows of links.
extension EditingContext {
    /// The context that edits the pair rows of links.
    func linkContext(_ pairs: PairColumns) -> EditingContext {
        editor(ofEntity: pairs.layout) as? EditingContext ?? self
    }

    /// Returns the pair row of a link from the first object to the second object; nil if there is none.
    func link(_ first: ManagedObject, _ second: ManagedObject, _ pairs: PairColumns) throws -> ManagedObject? {
        try findLink(first, second, pairs).link
    }

    /// Like ``link(_:_:_:)``, but for a caller that inserts the link if there is none.
    ///
    /// - Throws: `uniquenessViolated` if the pair row with the keys of the two objects links other objects; errors of the store.
    func linkToInsert(_ first: ManagedObject, _ second: ManagedObject, _ pairs: PairColumns) throws -> ManagedObject? {
        let (link, isOfOthers) = try findLink(first, second, pairs)
        if link != nil || !isOfOthers || mayGetOtherKey(first) || mayGetOtherKey(second) { return link }
        throw keyUsedTwice(first, second)
    }

    /// Whether the object is new in a draft. If another program has used its key, the save of the draft gives it another key.
    func mayGetOtherKey(_ object: ManagedObject) -> Bool { editing == .inDraft && object.isInserted }

    /// The error for a link with the same keys as a link of other objects: the store keeps only one link for each pair of
    /// keys.
    func keyUsedTwice(_ first: ManagedObject, _ second: ManagedObject) -> DataSourceError {
        DataSourceError(
            .uniquenessViolated,
            "\(first.objectID) cannot be linked to \(second.objectID). Another program has given an object of another entity the same key as one of them, and this relationship can have only one link for each key. Copy one of the objects with the same key into a new object, and delete the old object.",
            entityName: first.layout.name)
    }

    /// Looks up the pair row with the keys of two objects. If another program has given objects of two entities the same key, the
    /// row can link another object with this key.
    ///
    /// - Returns: The row that links the two objects, and whether there is a row that links other objects.
    private func findLink(
        _ first: ManagedObject, _ second: ManagedObject, _ pairs: PairColumns
    ) throws -> (link: ManagedObject?, isOfOthers: Bool) {
        let context = linkContext(pairs)
        let rows = context.bindings[pairs.layout]
        let ends = [first.key, second.key].map { RowValue.integer($0) }
        let keys = pairs.own.key == 0 ? ends : ends.reversed()
        let found =
            if first.hasOnlyUnsavedLinks || second.hasOnlyUnsavedLinks {
                rows.find(0, keys)
            } else {
                try context.reading { () throws(DataSourceError) in
                    try context.findUnique(pairs.layout, constraint: 0, keys)
                }
            }
        guard let found, !found.links(first, second, pairs) else { return (found, false) }
        // A draft can have both rows, because it can have a new object with a key that another program has used.
        let own = rows.find(0, keys, except: found)
        return (own.flatMap { $0.links(first, second, pairs) ? $0 : nil }, true)
    }

    /// Deletes the link between two objects, if there is one.
    func unlink(_ first: ManagedObject, _ second: ManagedObject, _ pairs: PairColumns) throws {
        guard let link = try link(first, second, pairs) else { return }
        try linkContext(pairs).delete(link: link)
    }

    /// Deletes the pair row of a link.
    func delete(link: ManagedObject) throws(DataSourceError) {
        linkEdits += 1
        try delete(owned: link)
    }

    /// Inserts the pair row of a link that does not exist yet. In an ordered relationship, each object gets a position in the
    /// list of the other object.
    func insertLink(
        _ pairs: PairColumns, _ first: (object: ManagedObject, position: Int64?),
        _ second: (object: ManagedObject, position: Int64?), key: Int64? = nil
    ) throws(DataSourceError) {
        let link = try linkContext(pairs).insert(entity: pairs.layout, key: key)
        link.setLink(pairs.own, first.object, position: first.position)
        link.setLink(pairs.other, second.object, position: second.position)
        link.checkedConstraint = 0
    }
}
