/// The numbers of the engines that take turns. The lowest number comes first. Each number occurs at most once.
///
/// **Complexity**: O(log n) for each number.
package struct TurnQueue {
    private var heap = MinHeap<Int>()
    /// The numbers in the queue.
    package private(set) var numbers: Set<Int> = []

    package init() {}

    package mutating func insert(_ number: Int) {
        if numbers.insert(number).inserted { heap.insert(number) }
    }

    /// Removes and returns the lowest number; nil if the queue is empty.
    package mutating func takeFirst() -> Int? {
        guard let first = heap.first else { return nil }
        heap.removeFirst()
        numbers.remove(first)
        return first
    }
}
