/// The number of elements at the beginning that pass the test, which no later one may pass.
func partitioningIndex(_ count: Int, _ test: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
        let middle = (low + high) / 2
        if test(middle) { low = middle + 1 } else { high = middle }
    }
    return low
}
