internal import RowStore

/// What an edit of a value means to its context.
extension ManagedObjectContext {
    func refuseEditOfDeleted(_ object: ManagedObject, _ column: Int) {
        refuse(
            DataSourceError(
                .objectGone,
                "\(object.layout.name).\(object.layout.columns[column].name) was set on an object that had been deleted. Insert a new one.",
                entityName: object.layout.name, attributeName: object.layout.columns[column].name))
    }

    func refuseNaN(_ object: ManagedObject, _ column: Int) {
        refuse(
            DataSourceError(
                .validationFailed,
                "\(object.layout.name).\(object.layout.columns[column].name) was set to NaN, which a store cannot hold. Use nil for no value.",
                entityName: object.layout.name, attributeName: object.layout.columns[column].name))
    }

    /// Notes that an object has a new value in a column of a unique key.
    func indexUniqueValue(of object: ManagedObject, _ column: Int) {
        let binding = bindings[object.layout.index]
        for constraint in binding.layout.constraints.indices
        where binding.layout.constraints[constraint].contains(column) {
            binding.indexLater(object, constraint)
        }
    }

    /// Notes that an object has a new value in a column.
    func indexValue(of object: ManagedObject, _ column: Int) {
        bindings[object.layout.index].noteValues(of: object, column)
    }
}
