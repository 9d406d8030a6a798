/// A dictionary in parts. If a value changes while a copy of the dictionary exists, only the part with the value's key is
/// copied.
///
/// A snapshot of the pending rows is such a copy. The number of parts grows with the number of values, so that a few values
/// cost no more than in an ordinary dictionary.
package struct PartitionedRows<Key: FixedWidthInteger & Sendable, Value: Sendable>: Sendable {
    private var parts: [[Key: Value]] = [[:]]
    package private(set) var count = 0

    /// The largest average number of values per part.
    package static var partLimit: Int { 256 }
    private static var maxPartCount: Int { 4096 }

    package init() {}

    package var isEmpty: Bool { count == 0 }
    /// Whether there is only one part, because there were never more values than fit in one part.
    package var isSmall: Bool { parts.count == 1 }

    /// All keys and values, in any order.
    package var all: some Sequence<(key: Key, value: Value)> { parts.lazy.joined() }

    package subscript(key: Key) -> Value? { parts[part(of: key)][key] }

    /// - Returns: The previous value.
    @discardableResult
    package mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        let old = parts[part(of: key)].updateValue(value, forKey: key)
        if old == nil { grow() }
        return old
    }

    @discardableResult
    package mutating func removeValue(forKey key: Key) -> Value? {
        let old = parts[part(of: key)].removeValue(forKey: key)
        if old != nil { count -= 1 }
        return old
    }

    /// Changes a value in place.
    ///
    /// - Parameter initial: The first value of a new key.
    package mutating func change(_ key: Key, initial: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
        let index = part(of: key)
        let before = parts[index].count
        body(&parts[index][key, default: initial()])
        if parts[index].count > before { grow() }
    }

    /// Changes the value of an existing key in place.
    ///
    /// - Parameter body: Returns whether to remove the value.
    package mutating func removeIf(_ key: Key, _ body: (inout Value) -> Bool) {
        let number = part(of: key)
        guard let index = parts[number].index(forKey: key) else { return }
        guard body(&parts[number].values[index]) else { return }
        parts[number].remove(at: index)
        count -= 1
    }

    // MARK: Parts

    /// The number of values in the largest part.
    package var largestPartCount: Int { parts.lazy.map(\.count).max() ?? 0 }

    private func part(of key: Key) -> Int {
        if parts.count == 1 { return 0 }
        // A key is a consecutive number or an arbitrary hash. The upper bits of the product depend on all bits of the key.
        let mixed = UInt64(truncatingIfNeeded: key) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 40) & (parts.count - 1)
    }

    private mutating func grow() {
        count += 1
        guard count > parts.count * Self.partLimit, parts.count < Self.maxPartCount else { return }
        let old = parts
        parts = Array(repeating: [:], count: old.count * 4)
        for (key, value) in old.lazy.joined() { parts[part(of: key)][key] = value }
    }
}
