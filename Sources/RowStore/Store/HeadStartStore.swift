/// A store that can write new rows of a large save while the save is still being made.
///
/// It is an attempt that costs nobody anything: the rows are in an open transaction, which no reader sees. It ends with the commit of
/// the save, and it is rolled back as soon as the store has anything else to do; then the save is written as a whole later.
package protocol HeadStartStore: PersistentStore {
    /// How many rows are written at a time: at least so many that it is worth a call, and no more than the save of another data
    /// source may have to wait for.
    var rowsWrittenAhead: ClosedRange<Int> { get }

    /// Writes rows of a save that is still being made.
    ///
    /// **Isolation**: called by one caller at a time for one save, while other saves may be committed.
    ///
    /// - Returns: Whether the rest may follow. If not, nothing of the save is written ahead: others may have anything to write.
    func write(_ rows: NewRows, ahead headStart: HeadStart) -> Bool

    /// Takes back what was written ahead of a save, if it is not in the store by now.
    func abandon(_ headStart: HeadStart)

    /// How many rows are written of a save that is still being made.
    var rowsAhead: Int { get }
}
