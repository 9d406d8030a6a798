/// Who sees the generated declarations.
public enum AccessLevel: String, Sendable, CaseIterable {
    case `public`
    case package
    case `internal`

    /// What a declaration starts with. Internal ones say nothing, as is usual.
    var prefix: String { self == .internal ? "" : rawValue + " " }
}
