/// The access level of the generated declarations.
public enum AccessLevel: String, Sendable, CaseIterable {
    case `public`
    case package
    case `internal`

    /// The first word of a declaration; empty for internal declarations, as is usual.
    var prefix: String { self == .internal ? "" : rawValue + " " }
}
