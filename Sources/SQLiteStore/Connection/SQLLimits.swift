/// The limits of this build of SQLite.
struct SQLLimits: Sendable {
    var variables: Int
    /// The most arguments of a function.
    var arguments: Int
    var length: Int
}
