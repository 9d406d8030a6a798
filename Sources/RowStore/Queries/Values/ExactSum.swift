/// The sum of reals, rounded once at the end, independent of their order.
package struct ExactSum: Sendable {
    /// Most of it: what is added to it without being rounded needs nothing else.
    private var head = 0.0
    private var parts = Expansion()
    /// The sum of numbers that are too large to be added without overflow, each divided by ``scale``.
    private var large = Expansion()
    /// The infinities that were met.
    private var infinities: (positive: Bool, negative: Bool) = (false, false)

    private static let bound = 0x1p1000
    private static let scale = 0x1p100

    package init() {}

    @inline(__always)
    package mutating func add(_ value: Double) {
        let sum = head + value
        let added = sum - head
        // What the sum lacks, exactly, unless it overflows. (Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B)
        let rest = (head - (sum - added)) + (value - added)
        guard rest == 0, abs(sum) < ExactSum.bound else { return addSlowly(value) }
        head = sum
    }

    private mutating func addSlowly(_ value: Double) {
        guard value.isFinite else {
            if value > 0 { infinities.positive = true } else { infinities.negative = true }
            return
        }
        guard abs(value) < ExactSum.bound else { return large.add(value / ExactSum.scale) }
        parts.add(value)
        if let greatest = parts.removeGreatest(from: ExactSum.bound) { large.add(greatest / ExactSum.scale) }
    }

    /// An infinity if the sum overflows; nil for infinities of both signs, which have no sum.
    package var value: Double? {
        switch infinities {
        case (true, true): return nil
        case (true, false): return .infinity
        case (false, true): return -.infinity
        case (false, false): break
        }
        var parts = parts
        parts.add(head)
        if large.isZero { return parts.value }
        var all = large
        for part in parts.parts {
            let scaled = part / ExactSum.scale
            // A remainder still determines the direction of rounding.
            all.add(scaled == 0 && part != 0 ? (part > 0 ? 1 : -1) * .leastNonzeroMagnitude : scaled)
        }
        return all.value * ExactSum.scale
    }
}

/// Finite numbers whose exact sum is the total, the smallest first, no two of which overlap.
private struct Expansion: Sendable {
    private(set) var parts: [Double] = []

    var isZero: Bool { parts.allSatisfy { $0 == 0 } }

    mutating func add(_ value: Double) {
        var value = value
        var kept = 0
        for index in parts.indices {
            var part = parts[index]
            if abs(value) < abs(part) { swap(&value, &part) }
            let sum = value + part
            let rest = part - (sum - value)
            if rest != 0 {
                parts[kept] = rest
                kept += 1
            }
            value = sum
        }
        parts.removeLast(parts.count - kept)
        parts.append(value)
    }

    /// Removes the greatest part, if it is at least that large.
    mutating func removeGreatest(from bound: Double) -> Double? {
        guard let greatest = parts.last, abs(greatest) >= bound else { return nil }
        return parts.removeLast()
    }

    /// The sum, rounded once.
    var value: Double {
        guard var sum = parts.last else { return 0 }
        var index = parts.count - 1
        var rest = 0.0
        while index > 0 {
            index -= 1
            let before = sum
            sum = before + parts[index]
            rest = parts[index] - (sum - before)
            if rest != 0 { break }
        }
        // Half-way cases are rounded by the parts below.
        if index > 0, rest < 0 && parts[index - 1] < 0 || rest > 0 && parts[index - 1] > 0 {
            let twice = rest * 2
            let rounded = sum + twice
            if twice == rounded - sum { sum = rounded }
        }
        return sum
    }
}
