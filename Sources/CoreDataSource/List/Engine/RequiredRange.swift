package import RowStore

/// The range that contains the number or date of one column in all rows of a list. The list has such a range if its predicate
/// compares the column with constants. A row whose value is null or out of the range is never in the list.
///
/// For example, all rows of a list with the predicate `\.date >= monday && \.date < sunday` have a date between the two.
package struct RequiredRange: Sendable, Equatable {
    package let column: Int
    package private(set) var bounds: ClosedRange<Double>

    /// - Parameter layout: The entity of the list.
    /// - Returns: Nil if the predicate does not compare a column of numbers with constants, or if only one part of an OR does.
    package init?(_ predicate: RowPredicate, _ layout: EntityLayout) {
        var ranges: [RequiredRange] = []
        for case .compare(let column, let relation, let value) in predicate.requiredParts
        where !JoinedColumn.isJoined(column) {
            guard let number = Self.number(value, layout.order(of: column).storage) else { continue }
            let bounds: ClosedRange<Double>
            switch relation {
            case .less, .lessOrEqual: bounds = -.infinity...number
            case .greater, .greaterOrEqual: bounds = number...(.infinity)
            case .equal, .notEqual: continue
            }
            if let index = ranges.firstIndex(where: { $0.column == column }) {
                guard ranges[index].bounds.overlaps(bounds) else { continue }
                ranges[index].bounds = ranges[index].bounds.clamped(to: bounds)
            } else {
                ranges.append(RequiredRange(column: column, bounds: bounds))
            }
        }
        guard
            let range = ranges.first(where: { $0.bounds.lowerBound.isFinite && $0.bounds.upperBound.isFinite })
                ?? ranges.first
        else { return nil }
        self = range
    }

    private init(column: Int, bounds: ClosedRange<Double>) {
        (self.column, self.bounds) = (column, bounds)
    }

    /// Returns the nearest `Double`. The conversion keeps the order, but can make different integers equal. So `<` and `>`
    /// also give a range that includes the bound.
    private static func number(_ value: RowValue, _ storage: ColumnStorage) -> Double? {
        switch value {
        case .integer(let number): storage == .integer ? Double(number) : nil
        case .real(let number): storage == .real && !number.isNaN ? number : nil
        case .null, .text, .blob: nil
        }
    }

    /// Returns the number that a row has in a column; nil if it is null.
    static func number(of row: RowSnapshot, _ column: Int, _ storage: ColumnStorage) -> Double? {
        if row.isNull(column) { return nil }
        return storage == .integer ? Double(row.integer(column)) : row.real(column)
    }
}

extension ListQuery {
    /// The range that contains the values of one column in all rows of the list. Nil if there is none, if the list uses
    /// columns of related rows, or if a part of its predicate is evaluated on objects.
    package var requiredRange: RequiredRange? {
        joined.isEmpty && objectPredicate == nil ? RequiredRange(predicate, order.layout) : nil
    }
}

/// Finds the ranges that contain a number, without a visit to the other ranges.
package struct RangeIndex {
    private struct Entry {
        let bounds: ClosedRange<Double>
        let number: Int
    }

    /// The ranges, sorted by lower bound. The array is a balanced tree: the middle of each part is the root of this part.
    private var sorted: [Entry] = []
    /// For each entry of ``sorted``, the greatest upper bound in the part that has the entry as its root.
    private var greatest: [Double] = []
    /// Ranges that were added after the last sort.
    private var added: [Entry] = []

    package init() {}

    /// - Parameter number: A number that identifies the range.
    ///
    /// **Complexity**: O(log *n*), averaged over many additions.
    package mutating func add(_ number: Int, _ bounds: ClosedRange<Double>) {
        added.append(Entry(bounds: bounds, number: number))
        if added.count > max(16, sorted.count / 4) { sort() }
    }

    private mutating func sort() {
        sorted += added
        added = []
        sorted.sort { $0.bounds.lowerBound < $1.bounds.lowerBound }
        greatest = Array(repeating: -.infinity, count: sorted.count)
        _ = measure(sorted.indices)
    }

    /// Sets ``greatest`` for all entries of a part, and returns the greatest upper bound of the part.
    private mutating func measure(_ part: Range<Int>) -> Double {
        if part.isEmpty { return -.infinity }
        let root = Self.root(of: part)
        let below = max(measure(part.lowerBound..<root), measure(root + 1..<part.upperBound))
        greatest[root] = max(below, sorted[root].bounds.upperBound)
        return greatest[root]
    }

    private static func root(of part: Range<Int>) -> Int { part.lowerBound + part.count / 2 }

    /// Inserts the numbers of all ranges that contain a number. All ranges count as containing NaN.
    ///
    /// **Complexity**: O(log *n*) for each range that is found. Also checks the ranges that were added after the last sort: at
    /// most 16 ranges, or a fourth of the sorted ranges.
    package func find(_ number: Double, _ found: inout Set<Int>) {
        if number.isNaN {
            found.formUnion(sorted.lazy.map(\.number))
            return found.formUnion(added.lazy.map(\.number))
        }
        for entry in added where entry.bounds.contains(number) { found.insert(entry.number) }
        find(number, sorted.indices, &found)
    }

    private func find(_ number: Double, _ part: Range<Int>, _ found: inout Set<Int>) {
        if part.isEmpty { return }
        let root = Self.root(of: part)
        if greatest[root] < number { return }
        find(number, part.lowerBound..<root, &found)
        let entry = sorted[root]
        if entry.bounds.lowerBound > number { return }
        if entry.bounds.upperBound >= number { found.insert(entry.number) }
        find(number, root + 1..<part.upperBound, &found)
    }
}
