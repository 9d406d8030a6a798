public import Foundation

/// Shows how far `add` or `sync` has come.
///
/// ```swift
/// try await contacts.add(list, progress: BatchProgress { completed, total in
///     print("\(completed) of \(total)")
/// })
/// ```
///
/// Or as a `Progress` of Foundation, which a view can show, and which can cancel the call:
///
/// ```swift
/// let progress = Progress(totalUnitCount: 0)
/// try await contacts.sync(serverList, progress: BatchProgress(progress))
/// ```
///
/// A value counts as completed once ``DataSource/onAdd(_:in:)`` has returned. The numbers only grow. They are reported before
/// the first value, then at most once for each hundredth of the values and for each 256 values, and at the end. The total is
/// reached only when the call is about to return its report; links, deletions and the write to the store come before. A call
/// that throws reports nothing more.
public struct BatchProgress: Sendable {
    private let report: @Sendable (_ completed: Int, _ total: Int) -> Void
    private let isCalledOff: @Sendable () -> Bool

    /// Calls a closure.
    ///
    /// **Isolation**: none. The calls come one after the other, from the queue of the private context, which waits for each of
    /// them; the last one comes from the task of the call.
    ///
    /// - Parameter report: Gets the number of completed values and the number of all values.
    public init(_ report: @escaping @Sendable (_ completed: Int, _ total: Int) -> Void) {
        self.report = report
        isCalledOff = { false }
    }

    /// Sets the unit counts of a `Progress`. One unit is one value.
    ///
    /// `cancel()` of the progress has the effect of cancelling the task while the values are added: the call throws
    /// `CancellationError`, and changes nothing. It is noticed before the first value, after at most 256 values, and after the
    /// last. After that, the save is completed.
    ///
    /// **Isolation**: none. Observers of the progress are called as for the closure.
    ///
    /// - Parameter progress: A progress of this call alone. It can be a child of another progress.
    public init(_ progress: Progress) {
        report = { completed, total in
            progress.totalUnitCount = Int64(total)
            progress.completedUnitCount = Int64(completed)
        }
        isCalledOff = { progress.isCancelled }
    }

    /// Reports that values were added, if their number is worth a report.
    ///
    /// - Parameter count: The number of values so far.
    /// - Throws: `CancellationError` if the progress is cancelled.
    func check(_ count: Int, of total: Int) throws {
        if isCalledOff() { throw CancellationError() }
        // Values are looked at in groups of 256.
        let step = max(1, total / 100 / 256) * 256
        if count < total, count % step == 0 { report(count, total) }
    }

    /// Reports that the call has succeeded.
    func end(_ total: Int) { report(total, total) }
}
