extension RandomAccessCollection where Index == Int {
    /// Returns the elements in slices of the given size. The last slice can be shorter.
    ///
    /// - Parameter size: The number of elements of a slice, at least 1.
    @inlinable
    package func chunks(ofSize size: Int) -> some Sequence<SubSequence> {
        stride(from: startIndex, to: endIndex, by: size).lazy.map { self[$0..<Swift.min($0 + size, endIndex)] }
    }
}
