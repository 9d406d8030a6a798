internal import RowStore

/// The functions of a context that an object calls when the object is edited, and when one of its deferred values is
/// read.
///
/// **Isolation**: the same as the context.
protocol ObjectContext: AnyObject {
    /// Called before the first edit of an object without edits.
    func willEdit(_ object: ManagedObject)
    /// Called before a value of a draft's object changes. The draft records the old value, so that the change can be undone.
    func willChange(_ object: ManagedObject)
    /// Called after a value of a draft's object has changed.
    func didChange(_ object: ManagedObject)
    /// Reads the deferred values of an object, because the value of a column is needed. If the read fails, the context
    /// records the error, and the values stay deferred.
    func loadDeferredValues(of object: ManagedObject, _ column: Int)
    /// Traps outside of a batch.
    func checkInBatch()
    /// Called when an object has a new value in a column of a uniqueness constraint.
    func indexUniqueValue(of object: ManagedObject, _ column: Int)
    /// Called when an object has a new value in a column by which objects are looked up.
    func indexValue(of object: ManagedObject, _ column: Int)
    /// Makes the next save throw the error, unless an earlier error is waiting to be thrown.
    func refuse(_ error: DataSourceError)
    func refuseNaN(_ object: ManagedObject, _ column: Int)
    func refuseEditOfDeleted(_ object: ManagedObject, _ column: Int)
}
