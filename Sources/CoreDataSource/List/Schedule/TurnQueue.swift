/// The numbers of the engines that take turns. The lowest number comes first. Each number occurs at most once.
///
/// **Complexity**: O(log n) for each number, in a binary heap.
package struct TurnQueue {
    private var heap: [Int] = []
    /// The numbers in the queue.
    package private(set) var numbers: Set<Int> = []

    package init() {}

    package mutating func insert(_ number: Int) {
        guard numbers.insert(number).inserted else { return }
        heap.append(number)
        var position = heap.count - 1
        while position > 0 {
            let parent = (position - 1) / 2
            if heap[parent] < heap[position] { return }
            heap.swapAt(parent, position)
            position = parent
        }
    }

    /// Removes and returns the lowest number; nil if the queue is empty.
    package mutating func takeFirst() -> Int? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        numbers.remove(first)
        if heap.isEmpty { return first }
        heap[0] = last
        var position = 0
        while true {
            var lowest = position
            for child in (2 * position + 1)...(2 * position + 2) where child < heap.count && heap[child] < heap[lowest]
            {
                lowest = child
            }
            if lowest == position { return first }
            heap.swapAt(lowest, position)
            position = lowest
        }
    }
}
