/// An answer that was stored.
struct SeaAnswer: Sendable {
    let list: SeaList
    /// The version of the server that the answer shows.
    let version: Int
}

/// What must be true of the rows of a store, by the versions of the server and the guarantees of the article "A data source with a
/// server". Each function returns what is wrong.
extension SeaServer {
    /// Each row is as one version of the server had it. A row without a version is a harbor that ships have named.
    ///
    /// - Parameter mayLackLinks: Whether a ship may lack its links, because a harbor was not stored yet.
    func faults(in rows: SeaState, mayLackLinks: Bool) -> [String] {
        rows.values.compactMap { row in
            if row.version == 0 {
                let isKnown = row.id.kind == .harbor && has(row.id, after: 0)
                return isKnown ? nil : "The server never had \(row)."
            }
            guard let object = state(at: row.version)?[row.id], object.version == row.version else {
                return "The server never changed \(row)."
            }
            return isSame(row, object, mayLackLinks: mayLackLinks) ? nil : "\(row) is stored instead of \(object)."
        }
    }

    /// Each ship calls at the harbors at which it did in the newer version of the two rows. Calls at a harbor without a version may be
    /// missing, because the harbor may have been deleted before.
    ///
    /// - Parameter mayLackLinks: Whether calls may be missing, because the app or a hook has deleted objects, which then came back.
    func callFaults(in rows: SeaState, mayLackLinks: Bool) -> [String] {
        rows.values.filter { $0.id.kind == .ship }.flatMap { ship in
            rows.values.compactMap { harbor in
                if harbor.id.kind != .harbor { return nil }
                let newer = state(at: max(ship.version, harbor.version)) ?? [:]
                let isExpected = newer[ship.id]?.calls.contains(harbor.id.key) ?? false
                let calls = ship.calls.contains(harbor.id.key)
                if calls == isExpected || !calls && (mayLackLinks || harbor.version == 0) { return nil }
                return calls ? "\(ship) calls at \(harbor)." : "\(ship) does not call at \(harbor)."
            }
        }
    }

    /// The rows are those of the list that has the tag, or newer ones.
    func faults(of list: SeaList, tag: Int, in rows: SeaState) -> [String] {
        let listed = objects(of: list, at: tag)
        let old = listed.values.compactMap { object -> String? in
            guard let row = rows[object.id] else { return "\(object) is missing." }
            return row.version >= object.version ? nil : "\(row) is older than \(object)."
        }
        let extra = rows.values.filter { row in
            guard list.covers(row), listed[row.id] == nil else { return false }
            return row.version == 0 ? !has(row.id, after: tag) : row.version <= tag
        }
        return (old + extra.map { "\($0) is left." }).map { "Tag \(tag) of \(list.name): \($0)" }
    }

    /// The rows are those of the newest version.
    func differences(from rows: SeaState, mayLackLinks: Bool) -> [String] {
        let newest = state(at: newest) ?? [:]
        let missing = newest.values.compactMap { object -> String? in
            guard let row = rows[object.id] else { return "\(object) is missing at the end." }
            let isSame =
                row.version == object.version && row.calls == object.calls
                && isSame(row, object, mayLackLinks: mayLackLinks)
            return isSame ? nil : "\(row) is stored instead of \(object) at the end."
        }
        return missing + rows.values.filter { newest[$0.id] == nil }.map { "\($0) is left at the end." }
    }

    /// Whether an answer would change what a newer answer has stored. Such an answer is no error, whatever the rules say about it.
    ///
    /// - Parameters:
    ///   - answer: The answer that was not stored.
    ///   - before: The objects that were in scope before its request.
    ///   - newer: An answer that was stored since the request.
    ///   - rows: The stored rows.
    func replaces(_ answer: SeaAnswer, _ before: Set<SeaObject.ID>, newer: SeaAnswer, in rows: SeaState) -> Bool {
        guard newer.version > answer.version, newer.list.kind == answer.list.kind else { return false }
        let mine = objects(of: answer.list, at: answer.version)
        let theirs = objects(of: newer.list, at: newer.version)
        let replaced = theirs.contains { id, object in
            guard let row = rows[id], row.version == object.version else { return false }
            guard let new = mine[id] else { return before.contains(id) && answer.list.covers(row) }
            return new.version != row.version
        }
        return replaced
            || mine.contains { id, object in rows[id] == nil && theirs[id] == nil && newer.list.covers(object) }
    }

    private func has(_ id: SeaObject.ID, after version: Int) -> Bool {
        versions(after: version).contains { state(at: $0)?[id] != nil }
    }

    /// - Parameter object: The object as the server had it in the version of the row.
    private func isSame(_ row: SeaObject, _ object: SeaObject, mayLackLinks: Bool) -> Bool {
        func isSame(_ link: Int?, _ other: Int?) -> Bool { link == other || mayLackLinks && link == nil }
        // The delete rule Nullify takes the link to a harbor that the server has removed since.
        let isNullified =
            row.next == nil
            && object.next.map { next in
                let id = SeaObject.ID(kind: .harbor, key: next)
                return versions(after: row.version).contains { state(at: $0)?[id] == nil }
            } ?? false
        return row.flag == object.flag && isSame(row.home, object.home) && isSame(row.lender, object.lender)
            && (isSame(row.next, object.next) || isNullified)
    }
}
