internal import RowStore

/// The table in which a store describes itself.
extension StoreMetadata {
    static let table = "_metadata"
    static let createSQL = "CREATE TABLE \"_metadata\" (\"name\" TEXT PRIMARY KEY, \"value\") WITHOUT ROWID"
    static let selectSQL = "SELECT \"name\", \"value\" FROM \"_metadata\""
    static let insertSQL = "INSERT INTO \"_metadata\" (\"name\", \"value\") VALUES (?1, ?2)"
    static let deleteSQL = "DELETE FROM \"_metadata\""
    static let deleteModelSQL = "DELETE FROM \"_metadata\" WHERE \"name\" = 'model'"
    static let selectFirstFreeKeySQL = "SELECT \"value\" FROM \"_metadata\" WHERE \"name\" = 'firstFreeKey'"
    static let setFirstFreeKeySQL = "UPDATE \"_metadata\" SET \"value\" = ?1 WHERE \"name\" = 'firstFreeKey'"

    /// A number that changes after each failed commit that had to be overwritten.
    static let countFailedCommitSQL =
        "INSERT INTO \"_metadata\" (\"name\", \"value\") VALUES ('failedCommits', 1) "
        + "ON CONFLICT (\"name\") DO UPDATE SET \"value\" = \"value\" + 1"
}
