/// What happened to a row or a section of a list.
public struct ListChangeType: RawRepresentable, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A row or section is new.
    public static let insert = ListChangeType(rawValue: 1)
    /// A row or section is gone.
    public static let delete = ListChangeType(rawValue: 2)
    /// The object moved among those that stayed, or to another section. Its other values may have changed too.
    public static let move = ListChangeType(rawValue: 3)
    /// Values changed, but the place did not.
    public static let update = ListChangeType(rawValue: 4)
}

extension ListChangeType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .insert: "insert"
        case .delete: "delete"
        case .move: "move"
        case .update: "update"
        default: "ListChangeType(\(rawValue))"
        }
    }
}
