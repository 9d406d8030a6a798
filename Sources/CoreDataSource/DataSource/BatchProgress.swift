public import Foundation

/// Shows how far `add` or `sync` has come.
///
/// ```swift
/// try await contacts.add(list, progress: BatchProgress { completed, total in
///     print("\(completed) of \(total)")
/// })
/// ```
///
/// You can also pass a `Progress` of Foundation. A view can show the `Progress`, and can cancel the call with it:
///
/// ```swift
/// let progress = Progress(totalUnitCount: 0)
/// try await contacts.sync(serverList, progress: BatchProgress(progress))
/// ```
///
/// A value counts as completed once ``DataSource/onAdd(_:in:)`` has returned. The numbers never decrease. They are reported
/// before the first value, then at most once for each 256 values and for each hundredth of the values, and at the end. The number
/// of completed values reaches the total only just before the call returns, after links, deletions and the write to the store. A
/// call that throws reports nothing more.
public struct BatchProgress: Sendable {
    private let report: @Sendable (_ completed: Int, _ total: Int) -> Void
    private let isCalledOff: @Sendable () -> Bool

    /// Makes a progress that calls a closure.
    ///
    /// **Isolation**: none. The closure is called on the queue of the private context, which waits until the closure returns.
    /// The last call comes from the task that called `add` or `sync`.
    ///
    /// - Parameter report: Gets the number of completed values and the number of all values.
    public init(_ report: @escaping @Sendable (_ completed: Int, _ total: Int) -> Void) {
        self.report = report
        isCalledOff = { false }
    }

    /// Makes a progress that sets the unit counts of a `Progress`. One unit is one value.
    ///
    /// `cancel()` of the progress has the effect of cancelling the task while the values are added: the call throws
    /// `CancellationError`, and changes nothing. The call checks for the cancellation before the first value, at least once for
    /// each 256 values, and after the last value. A later cancellation has no effect: the save is completed.
    ///
    /// The progress of an empty list has one unit, so that a parent gets the share of the call.
    ///
    /// **Isolation**: none. Observers of the progress are called where the closure of the other initializer would be called.
    /// On Linux, `Progress` has no lock: use the closure if several calls that run at once would have one parent, or if another
    /// thread reads the counts meanwhile.
    ///
    /// - Parameter progress: A progress that only this call uses. It can be a child of another progress.
    public init(_ progress: Progress) {
        report = { completed, total in
            progress.totalUnitCount = Int64(max(total, 1))
            progress.completedUnitCount = Int64(total == 0 ? 1 : completed)
        }
        isCalledOff = { progress.isCancelled }
    }

    /// Reports the number of added values, if a report is due.
    ///
    /// - Parameter count: The number of values so far.
    /// - Throws: `CancellationError` if the progress is cancelled.
    func check(_ count: Int, of total: Int) throws {
        if isCalledOff() { throw CancellationError() }
        // The count is checked after each 256 values.
        let step = max(1, (total / 100 + 255) / 256) * 256
        if count < total, count % step == 0 { report(count, total) }
    }

    /// Reports that the call has succeeded.
    func end(_ total: Int) { report(total, total) }
}
