package import ManagedModel

/// How a stored number becomes a value of a wider attribute type. The number itself never changes.
///
/// Core Data's inferred migration converts nothing. Wider types are a useful exception: different numbers stay different, so no
/// constraint that held before can break.
package enum NumberWidening: String, Sendable, Hashable, CaseIterable {
    /// Both types store a number in the same way.
    case unchanged
    /// A whole number as the digits of a decimal.
    case decimal
    /// A whole number as a floating-point one.
    case double
    case float

    /// Nil if the new type isn't wider.
    package init?(from old: AttributeType, to new: AttributeType) {
        switch (old, new) {
        case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64), (.float, .double):
            self = .unchanged
        case (.integer16, .decimal), (.integer32, .decimal), (.integer64, .decimal): self = .decimal
        case (.integer16, .double), (.integer32, .double), (.integer64, .double): self = .double
        case (.integer16, .float): self = .float
        default: return nil
        }
    }

    /// Whether the new type can hold every value of the old one, so that only a value of another program can be invalid.
    func holdsEveryValue(of type: AttributeType) -> Bool {
        !(self == .double && type == .integer64)
    }
}

/// A column whose numbers must be exact in a wider type.
package struct ExactColumn: Sendable, Equatable {
    /// The old entity, and the position of the column among its columns.
    package let entity: String
    package let column: Int
    package let widening: NumberWidening
    /// The attribute in the new model: `Account.balance`.
    let path: String
    let oldType: AttributeType
    let newType: AttributeType

    /// The error for a stored value that cannot be converted.
    ///
    /// - Parameters:
    ///   - number: The value, or nil for one that isn't a whole number, which is not shown.
    ///   - key: The key of the first object with such a value.
    ///   - count: How many objects have one.
    package func complaint(_ number: Int64?, key: Int64, count: Int) -> String {
        let value = number.map { "the value \($0)" } ?? "a value that is not a whole number"
        let objects =
            count == 1 ? "of the object with the key \(key)" : "of the object with the key \(key), one of \(count)"
        return "\(path): \(newType.rawValue) cannot hold \(value) \(objects). \(advice)"
    }

    /// The error without a store at hand.
    var complaint: String {
        "\(path): an object has a value that \(newType.rawValue) cannot hold exactly, such as 9007199254740993. \(advice)"
    }

    private var advice: String {
        newType == .decimal
            ? "Keep the type \(oldType.rawValue), or correct the value first."
            : "Keep the type \(oldType.rawValue), or use Decimal."
    }
}
