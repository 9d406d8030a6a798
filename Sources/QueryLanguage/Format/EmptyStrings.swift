internal import RowStore

extension StringOperator {
    /// Whether Swift's function finds an empty string in every string, and Foundation's operator in none.
    var findsEmptyStrings: Bool {
        switch self {
        case .contains, .beginsWith, .endsWith: true
        default: false
        }
    }
}

extension FetchExpression {
    /// Whether it is a constant string without any character.
    var isEmptyString: Bool {
        switch self {
        case .constant(.text("")): true
        case .constant(.stored(let value)): value.value == .text("")
        default: false
        }
    }
}
