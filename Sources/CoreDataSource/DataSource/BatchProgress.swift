public import Foundation

/// Reports the progress of `add`, `sync` or `importGraph`.
///
/// ```swift
/// try await contacts.add(list, progress: BatchProgress { completed, total in
///     print("\(completed) of \(total)")
/// })
/// ```
///
/// You can also pass Foundation's `Progress`, which a view can show and with which the user can cancel the call:
///
/// ```swift
/// let progress = Progress(totalUnitCount: 0)
/// try await contacts.sync(serverList, progress: BatchProgress(progress))
/// ```
///
/// A value is completed when ``DataSource/onAdd(_:in:)`` has returned. An object of a graph is completed when its attributes
/// are set. The numbers never decrease. They are reported before the first value and at the end. In between, there is at most
/// one report for each 256 values, and at most one for each hundredth of all values. The last report, that all values are
/// completed, comes just before the call returns, after links, deletions and the write to the store. If the call throws,
/// nothing more is reported.
public struct BatchProgress: Sendable {
    private let report: @Sendable (_ completed: Int, _ total: Int) -> Void
    private let wasCancelled: @Sendable () -> Bool

    /// Makes a progress that calls a closure.
    ///
    /// **Isolation**: none. The closure is called on the queue of the private context, which waits until the closure returns.
    /// The last call is made in the task that called `add`, `sync` or `importGraph`.
    ///
    /// - Parameter report: Gets the number of completed values and the number of all values.
    public init(_ report: @escaping @Sendable (_ completed: Int, _ total: Int) -> Void) {
        self.report = report
        wasCancelled = { false }
    }

    /// Makes a progress that sets the unit counts of a `Progress`. One unit is one value.
    ///
    /// While values are added, `cancel()` of the progress has the same effect as canceling the task: the call throws
    /// `CancellationError` and changes nothing. The call checks for the cancellation before the first value, at least once for
    /// each 256 values, and after the last value. A later cancellation has no effect, and the save is completed.
    ///
    /// The progress of an empty list has one unit, so that a parent progress gets the share of this call.
    ///
    /// **Isolation**: none. Observers of the progress run where the closure of the other initializer would run. On Linux,
    /// `Progress` has no lock. Pass a closure there if calls with the same parent run at the same time, or if another thread
    /// reads the counts during the call.
    ///
    /// - Parameter progress: A progress that only this call uses. It can be a child of another progress.
    public init(_ progress: Progress) {
        report = { completed, total in
            progress.totalUnitCount = Int64(max(total, 1))
            progress.completedUnitCount = Int64(total == 0 ? 1 : completed)
        }
        wasCancelled = { progress.isCancelled }
    }

    /// Reports the number of added values if a report is due.
    ///
    /// - Parameter count: The number of values that have been added.
    /// - Throws: `CancellationError` if the progress was canceled.
    func check(_ count: Int, of total: Int) throws {
        if wasCancelled() { throw CancellationError() }
        // This function is called after each 256 values, so the step is a multiple of 256.
        let step = max(1, (total / 100 + 255) / 256) * 256
        if count < total, count % step == 0 { report(count, total) }
    }

    /// Reports that the call has succeeded.
    func end(_ total: Int) { report(total, total) }
}
