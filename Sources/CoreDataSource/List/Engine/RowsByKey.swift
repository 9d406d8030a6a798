internal import RowStore

/// An index from the keys to the rows of a list. Used by lists that depend on related rows, and by lists whose objects
/// have to-many relationships.
///
/// The index is built once from a state of the list, and then updated. Therefore the cost of an update depends only on the
/// number of changed rows.
package final class RowsByKey: Sendable {
    private struct Index {
        /// The number of the state that the rows belong to; -1 if there is no state yet.
        var version = -1
        private(set) var rows: [Int64: ListedRow] = [:]
        /// The keys that rows of two entities have or had, because another program has given a key twice. ``rows`` has only one of
        /// these rows.
        private(set) var doubledKeys: Set<Int64> = []
        /// The number of the newest save that a read of the list has included; -1 before the first read.
        var asOf = SaveNumber.neverRead

        mutating func build(from state: ListState, _ version: Int) {
            if self.version == version { return }
            self.version = version
            (rows, doubledKeys) = ([:], [])
            rows.reserveCapacity(state.rows.count)
            state.rows.forEach { set($0, ofKey: $0.key, $0.entity) }
        }

        /// - Parameter row: Nil if the list does not show the row.
        mutating func set(_ row: ListedRow?, ofKey key: Int64, _ entity: Int) {
            let other = if let row { rows.updateValue(row, forKey: key) } else { rows.removeValue(forKey: key) }
            if let other, other.entity != entity { doubledKeys.insert(key) }
        }
    }

    private let index = Guarded(Index())

    package init() {}

    /// Updates the index to the next state of the list.
    ///
    /// - Parameters:
    ///   - version: The number of the current state. The number of the next state is one higher.
    ///   - rows: The changed rows in the next state, by key; nil for a row that the next state does not show.
    /// - Returns: The difference between the two states.
    package func advance(_ state: ListState, version: Int, to rows: [Int64: ListedRow?]) -> NetChanges {
        index.withLock { index in
            index.build(from: state, version)
            index.version = version + 1
            var difference = NetChanges()
            for (key, new) in rows {
                let old = index.rows[key]
                if index.doubledKeys.contains(key) { difference.recordEqualKeys() }
                difference.add(key, old: old, new: new, state.query)
                if let entity = (new ?? old)?.entity { index.set(new, ofKey: key, entity) }
            }
            return difference
        }
    }

    /// Returns the rows with the given keys in a state of the list. Keys without a row are left out.
    ///
    /// - Parameter version: The number of the state.
    func rows(_ keys: Set<Int64>, in state: ListState, version: Int) -> [ListedRow] {
        if keys.isEmpty { return [] }
        return index.withLock { index in
            index.build(from: state, version)
            return keys.compactMap { index.rows[$0] }
        }
    }

    /// Updates the index to the next state if the index was built for the current state. Otherwise does nothing.
    ///
    /// - Parameters:
    ///   - version: The number of the current state. The number of the next state is one higher.
    ///   - net: The difference between the two states.
    func advance(from version: Int, by net: NetChanges) {
        index.withLock { index in
            guard index.version == version else { return }
            index.version = version + 1
            for (key, change) in net.rows { index.set(change.new, ofKey: key, change.entity) }
        }
    }

    /// Forgets that a read has included saves after a number, because the result of the read was dropped.
    func forgetReads(after number: SaveNumber) {
        index.withLock { $0.asOf = min($0.asOf, number) }
    }

    /// Records the newest save that a read of the list has included.
    ///
    /// - Returns: The number of the newest save that any earlier read has included.
    func recordRead(asOf number: SaveNumber) -> SaveNumber {
        index.withLock { index in
            defer { index.asOf = max(index.asOf, number) }
            return index.asOf
        }
    }
}
