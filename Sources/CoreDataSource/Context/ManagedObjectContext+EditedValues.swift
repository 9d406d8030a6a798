internal import RowStore

/// What happens in a context when a value is edited.
extension ManagedObjectContext {
    func refuseEditOfDeleted(_ object: ManagedObject, _ column: Int) {
        refuse(
            DataSourceError(
                .objectGone,
                "\(object.layout.name).\(object.layout.columns[column].name) was set on a deleted object. Insert a new object.",
                entityName: object.layout.name, attributeName: object.layout.columns[column].name))
    }

    func refuseNaN(_ object: ManagedObject, _ column: Int) {
        refuse(
            DataSourceError(
                .validationFailed,
                "\(object.layout.name).\(object.layout.columns[column].name) was set to NaN, which a store cannot hold. Use nil for no value.",
                entityName: object.layout.name, attributeName: object.layout.columns[column].name))
    }

    /// An object has a new value in a column of a unique key.
    func indexUniqueValue(of object: ManagedObject, _ column: Int) {
        let binding = bindings[object.layout.index]
        for constraint in binding.layout.constraints.indices
        where binding.layout.constraints[constraint].contains(column) {
            binding.indexLater(object, constraint)
        }
    }

    /// An object has a new value in a column.
    func indexValue(of object: ManagedObject, _ column: Int) {
        bindings[object.layout.index].noteValues(of: object, column)
    }
}
