/// A statement that belongs to no table, and that a connection keeps prepared. In each connection, its SQL is always the same.
enum FixedStatement: Int, CaseIterable {
    case begin, beginImmediate, commit
    case setSavepoint, releaseSavepoint, rollBackToSavepoint
    case setFirstFreeKey, checkFile
    case selectFeed, updateFeed, selectPosition, selectSaves
    case selectHistoryLimits
}

/// A place for a prepared statement in a connection. The places of the fixed statements come first, followed by the places of
/// each table's statements.
struct StatementSlot: Sendable {
    let index: Int

    private init(index: Int) {
        self.index = index
    }

    @inline(__always)
    init(_ statement: FixedStatement) {
        index = statement.rawValue
    }

    static let firstOfTables = StatementSlot(index: FixedStatement.allCases.count)

    @inline(__always)
    func advanced(by count: Int) -> StatementSlot { StatementSlot(index: index + count) }
}
