/// The numbers of the saves that must be committed, in ascending order.
///
/// Those that no commit takes for now are passed over: each commit looks only at the others, however many wait.
struct PendingNumbers {
    private(set) var all: [Int64] = []
    /// Every number up to this one is passed over.
    private var passed: Int64 = 0

    /// Those that are not passed over.
    var forCommit: ArraySlice<Int64> { all[firstForCommit...] }

    private var firstForCommit: Int {
        if passed == 0 { return 0 }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle] <= passed { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// - Parameter number: The highest so far.
    mutating func append(_ number: Int64) { all.append(number) }

    /// Passes over all that there are up to a number.
    mutating func pass(through number: Int64) { passed = max(passed, number) }

    /// Passes over none.
    mutating func passOverNone() { passed = 0 }

    /// Keeps those of some that are still pending, without looking at those that are passed over.
    mutating func keepForCommit(_ isPending: (Int64) -> Bool) {
        let first = firstForCommit
        all.replaceSubrange(first..., with: all[first...].filter(isPending))
    }

    mutating func keep(_ isPending: (Int64) -> Bool) { all.removeAll { !isPending($0) } }
}
