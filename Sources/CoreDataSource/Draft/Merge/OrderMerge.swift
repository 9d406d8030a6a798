/// Merges two changed orders of a relationship's objects.
///
/// The functions are pure: the result depends only on the original order, the orders of both sides, and the existing objects.
package enum OrderMerge {
    /// Whether a side has moved an object, among the objects that all three orders contain.
    package static func hasMoved<Element: Hashable>(
        _ base: [Element], _ side: [Element], amongThoseOf other: [Element]
    ) -> Bool {
        let common = Set(base).intersection(side).intersection(other)
        return base.filter(common.contains) != side.filter(common.contains)
    }

    /// Whether both sides have moved objects, with different results.
    package static func isConflict<Element: Hashable>(
        base: [Element], mine: [Element], theirs: [Element]
    ) -> Bool {
        let common = Set(base).intersection(mine).intersection(theirs)
        let orders = [base, mine, theirs].map { $0.filter(common.contains) }
        return orders[0] != orders[1] && orders[0] != orders[2] && orders[1] != orders[2]
    }

    /// Returns the existing objects in the order of the side that moved objects. If both sides moved objects, `isMine` chooses
    /// the side. If no side moved objects, the order is that of `theirs`. An object that is missing in the chosen order is
    /// inserted after the object that precedes it on the other side.
    ///
    /// - Parameters:
    ///   - present: The existing objects, in any order.
    ///   - isMine: Whether `mine` has precedence if both sides moved objects.
    /// - Complexity: O(n) in the number of objects.
    package static func merge<Element: Hashable>(
        base: [Element], mine: [Element], theirs: [Element], present: [Element], isMine: Bool
    ) -> [Element] {
        let followsMine =
            hasMoved(base, mine, amongThoseOf: theirs)
            && (isMine || !hasMoved(base, theirs, amongThoseOf: mine))
        let (leader, follower) = followsMine ? (mine, theirs) : (theirs, mine)
        let wanted = Set(present)
        let first = leader.filter(wanted.contains)
        var placed = Set(first)
        /// For each element, the element that was inserted after it; for nil, the element that was inserted at the start.
        var inserted: [Element?: Element] = [:]
        var previous: Element?
        for element in follower + present where wanted.contains(element) {
            if placed.insert(element).inserted {
                inserted[element] = inserted[previous]
                inserted[previous] = element
            }
            previous = element
        }
        var merged: [Element] = []
        merged.reserveCapacity(placed.count)
        func appendInserted(after element: Element?) {
            var next = inserted[element]
            while let element = next {
                merged.append(element)
                next = inserted[element]
            }
        }
        appendInserted(after: nil)
        for element in first {
            merged.append(element)
            appendInserted(after: element)
        }
        return merged
    }
}
