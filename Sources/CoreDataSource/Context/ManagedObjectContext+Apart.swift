internal import RowStore

/// Reading large values that fetched objects lack (``RowQuery/leavesValuesApart``).
extension ManagedObjectContext {
    func bringValues(of object: ManagedObject, _ column: Int) {
        noteReadingApart(column, of: object)
        do {
            try readValuesApart(of: object)
        } catch {
            // The values of a deleted object that lay apart are gone with it, as its links are.
            if (error as? DataSourceError)?.code != .objectGone { noteReadFailure(error) }
        }
    }

    /// Gives an object its values that lie apart.
    ///
    /// - Throws: `objectGone`, what the store throws, and `CancellationError`.
    func readValuesApart(of object: ManagedObject) throws {
        guard object.hasValuesApart else { return }
        try reading { () throws(DataSourceError) in
            // A save that was merged just now may have brought them.
            guard object.hasValuesApart else { return }
            let (row, asOf) =
                object.isDeleted ? (nil, 0) : try source.row(entity: object.layout.index, key: object.key)
            guard let row else {
                throw DataSourceError(
                    .objectGone,
                    "\(object.objectID) has been deleted, and with it the large values that were not read before.",
                    entityName: object.layout.name)
            }
            object.row = row
            object.asOf = max(object.asOf, asOf)
        }
    }
}
