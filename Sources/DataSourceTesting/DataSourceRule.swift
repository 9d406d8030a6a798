/// A rule that every data source must follow, so that lists and syncs are correct.
public struct DataSourceRule: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String

    /// Makes a rule with a name. The rules of the contract are constants, such as ``adding``.
    ///
    /// ```swift
    /// let isAdding = violation.rule == DataSourceRule(rawValue: "adding")
    /// ```
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Adding the values creates objects. Without objects, the other rules cannot be checked.
    public static let values = DataSourceRule(rawValue: "values")
    /// Adding a value twice has the same result as adding it once.
    public static let adding = DataSourceRule(rawValue: "adding")
    /// Deleting a value removes its object and no other object.
    public static let deleting = DataSourceRule(rawValue: "deleting")
    /// Syncing the same list again writes nothing.
    public static let syncing = DataSourceRule(rawValue: "syncing")
    /// The result depends neither on the order of the values nor on the size of the batches. A link to the object of a later
    /// value may be missing until the value with the link is added again.
    public static let order = DataSourceRule(rawValue: "order")
    /// A batch that throws changes neither the store nor the data source.
    public static let throwing = DataSourceRule(rawValue: "throwing")

    public var description: String { rawValue }
}

/// A rule that a data source breaks, with an explanation.
public struct DataSourceViolation: Sendable, Hashable, CustomStringConvertible {
    /// The broken rule.
    public let rule: DataSourceRule
    /// Describes the check, its result, and how to correct the data source. The explanation can show values of objects.
    public let explanation: String

    public var description: String { "\(rule): \(explanation)" }
}

/// An error that lists the rules that a data source breaks.
public struct DataSourceContractError: Error, Sendable, CustomStringConvertible {
    /// The broken rules; at least one.
    public let violations: [DataSourceViolation]

    public var description: String {
        "The data source breaks \(violations.count == 1 ? "a rule" : "\(violations.count) rules"):\n"
            + violations.map { "- \($0)" }.joined(separator: "\n")
    }
}
