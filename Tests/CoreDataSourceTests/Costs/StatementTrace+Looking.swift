import CoreDataSource

extension StatementTrace {
    /// Whether it looks for writes of other programs. That happens twice a second, so counts of statements leave it out.
    var isLookingForOthers: Bool { sql.hasPrefix("SELECT 1 FROM \"_metadata\"") }
}
