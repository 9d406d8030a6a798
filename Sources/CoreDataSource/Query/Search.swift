/// Returns the number of leading elements that match the predicate. The elements after the first mismatch must not
/// match.
///
/// **Complexity**: a binary search.
func partitioningIndex(_ count: Int, _ predicate: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
        let middle = (low + high) / 2
        if predicate(middle) { low = middle + 1 } else { high = middle }
    }
    return low
}

/// Returns the positions of the elements of a longest increasing subsequence. The numbers must be different.
///
/// **Complexity**: a binary search for each element.
func longestIncreasingSubsequence(_ numbers: [Int]) -> [Int] {
    /// For each length, the position of the smallest number that ends an increasing subsequence of that length.
    var ends: [Int] = []
    /// For each element, the position of the previous element in the subsequence; -1 if there is none.
    var before = Array(repeating: -1, count: numbers.count)
    for (position, number) in numbers.enumerated() {
        let length = partitioningIndex(ends.count) { numbers[ends[$0]] < number }
        if length > 0 { before[position] = ends[length - 1] }
        if length < ends.count { ends[length] = position } else { ends.append(position) }
    }
    var run: [Int] = []
    var position = ends.last ?? -1
    while position >= 0 {
        run.append(position)
        position = before[position]
    }
    return run.reversed()
}
