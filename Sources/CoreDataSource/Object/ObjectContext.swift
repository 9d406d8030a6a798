internal import RowStore

/// The functions of a context that an object calls when it is edited, or when one of its deferred values is read.
///
/// **Isolation**: that of the context.
protocol ObjectContext: AnyObject {
    /// An object without edits is about to be edited.
    func willEdit(_ object: ManagedObject)
    /// A value of an object of a draft is about to change. The draft keeps the old value, to undo the change.
    func willChange(_ object: ManagedObject)
    /// A value of an object of a draft has changed.
    func didChange(_ object: ManagedObject)
    /// Reads the deferred values of an object, because the value of a column is needed. If the read fails, the failure is
    /// reported and the values stay deferred.
    func bringValues(of object: ManagedObject, _ column: Int)
    /// Traps outside of a batch.
    func checkInBatch()
    /// An object has a new value in a column of a unique key.
    func indexUniqueValue(of object: ManagedObject, _ column: Int)
    /// An object has a new value in a column by which objects are looked up.
    func indexValue(of object: ManagedObject, _ column: Int)
    /// Makes the next save throw, unless an earlier edit already does.
    func refuse(_ error: DataSourceError)
    func refuseNaN(_ object: ManagedObject, _ column: Int)
    func refuseEditOfDeleted(_ object: ManagedObject, _ column: Int)
}
