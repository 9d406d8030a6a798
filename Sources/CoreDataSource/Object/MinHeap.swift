/// An element of a ``MinHeap``.
protocol HeapElement {
    associatedtype HeapKey: Comparable

    /// The value that orders the elements. It does not change while the element is in a heap.
    var heapKey: HeapKey { get }
}

extension Int: HeapElement {
    var heapKey: Int { self }
}

/// A binary heap. The element with the lowest key is first.
///
/// **Complexity**: O(log n) to insert and to remove an element.
struct MinHeap<Element: HeapElement> {
    /// The key of the element at position n is not lower than the key of the element at position (n - 1) / 2.
    private(set) var elements: [Element] = []

    init() {}

    /// - Parameter sorted: The elements, in the order of their keys.
    init(sorted: [Element]) { elements = sorted }

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var position = elements.count - 1
        while position > 0, elements[position].heapKey < elements[(position - 1) / 2].heapKey {
            elements.swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard let last = elements.popLast(), !elements.isEmpty else { return }
        elements[0] = last
        var position = 0
        while true {
            var least = position
            for child in [2 * position + 1, 2 * position + 2]
            where child < elements.count && elements[child].heapKey < elements[least].heapKey {
                least = child
            }
            if least == position { return }
            elements.swapAt(position, least)
            position = least
        }
    }
}
