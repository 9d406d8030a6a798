internal import ManagedModel

extension ModelDraft {
    static let types: [AttributeType] = [
        .integer64, .double, .string, .date, .decimal, .integer16, .float, .integer32,
    ]

    static func value(_ type: AttributeType) -> AttributeValue {
        switch type {
        case .string: .string("it's")
        case .date: .date(1)
        case .double, .float: .double(0.5)
        default: .integer(5)
        }
    }

    /// The types that hold every small number of a type.
    static func widerTypes(_ type: AttributeType) -> [AttributeType] {
        switch type {
        case .integer16: [.integer32, .integer64, .decimal, .double, .float]
        case .integer32: [.integer64, .decimal, .double]
        case .integer64: [.decimal, .double]
        case .float: [.double]
        default: []
        }
    }
}
