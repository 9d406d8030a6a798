package import RowStore

/// In a format no string contains an empty one, or begins or ends with it, as in Foundation. Swift's functions find one in every
/// string, and so do the operators and `#Predicate`.
extension StringOptions {
    /// Of a format: an empty string on the right side, known or calculated for each row, is found in no string.
    static let findsNoEmptyString = StringOptions(rawValue: 32)
}

extension PredicateTree.Node {
    /// The comparison of strings that a format means.
    package static func formatText(
        _ one: FetchExpression, _ operation: StringOperator, _ other: FetchExpression, _ options: StringOptions
    ) -> Self {
        let isDifferent = operation.findsEmptyStrings && !other.isNotEmpty
        return .text(
            one, operation, other,
            isDifferent ? options.union(.findsNoEmptyString) : options.subtracting(.findsNoEmptyString))
    }
}

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
    var isEmptyString: Bool { constantText?.isEmpty ?? false }

    /// Whether it is a constant that is no empty string.
    fileprivate var isNotEmpty: Bool {
        guard case .constant = self else { return false }
        return !isEmptyString
    }

    private var constantText: String? {
        switch self {
        case .constant(.text(let text)): text
        case .constant(.stored(let stored)): if case .text(let text) = stored.value { text } else { nil }
        default: nil
        }
    }
}
