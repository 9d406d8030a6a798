internal import RowStore

/// What an object needs of its context when it is edited, or when values are read that it lacks.
///
/// **Isolation**: that of the context.
protocol ObjectContext: AnyObject {
    /// An object without edits is about to be edited.
    func willEdit(_ object: ManagedObject)
    /// A value of an object of a draft is about to change. The draft keeps the old one, to undo the change.
    func willChange(_ object: ManagedObject)
    /// A value of an object of a draft has changed.
    func didChange(_ object: ManagedObject)
    /// Gives an object its values that lie apart, because that of a column is needed. A failure is reported, and leaves them where
    /// they are.
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
