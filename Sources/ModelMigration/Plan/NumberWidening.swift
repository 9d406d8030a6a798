package import ManagedModel

/// The conversion of a stored number to a wider attribute type. The conversion never changes the value of the number.
///
/// Core Data's inferred migration converts no types. This library does so for wider types. Different numbers stay different,
/// so the conversion violates no uniqueness constraint.
package enum NumberWidening: String, Sendable, Hashable, CaseIterable {
    /// Both types store a number in the same way.
    case unchanged
    /// An integer becomes a decimal.
    case decimal
    /// An integer becomes a floating-point number.
    case double
    case float

    /// Returns nil if the new type is not wider.
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

    /// Returns whether the new type can represent every value of the old type. If so, only a value that another program wrote
    /// can be invalid.
    func canStoreEveryValue(of type: AttributeType) -> Bool {
        !(self == .double && type == .integer64)
    }
}

/// A column whose numbers must be exact in a wider type.
package struct ExactColumn: Sendable, Equatable {
    /// The name of the old entity.
    package let entity: String
    /// The index of the column in the old entity.
    package let column: Int
    package let widening: NumberWidening
    /// The attribute in the new model, for example `Account.balance`.
    let path: String
    let oldType: AttributeType
    let newType: AttributeType

    /// Returns the error message for a stored value that cannot be converted.
    ///
    /// - Parameters:
    ///   - number: The value; nil if the value is not an integer. The message shows the value only if it is an integer.
    ///   - key: The key of the first object with such a value.
    ///   - count: The number of objects with such a value.
    package func problem(_ number: Int64?, key: Int64, count: Int) -> String {
        let value = number.map { "the value \($0)" } ?? "a value that is not a whole number"
        let objects =
            count == 1 ? "of the object with the key \(key)" : "of the object with the key \(key), one of \(count)"
        return "\(path): \(newType.rawValue) cannot hold \(value) \(objects). \(advice)"
    }

    /// The error message of a plan that is made without a store.
    var problem: String {
        "\(path): an object has a value that \(newType.rawValue) cannot hold exactly, such as 9007199254740993. \(advice)"
    }

    private var advice: String {
        newType == .decimal
            ? "Keep the type \(oldType.rawValue), or correct the value first."
            : "Keep the type \(oldType.rawValue), or use Decimal."
    }
}
