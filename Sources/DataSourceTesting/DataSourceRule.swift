/// A rule that every data source has to keep. Otherwise its lists and syncs go wrong.
public struct DataSourceRule: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The values make objects. Without objects, the other rules cannot be checked.
    public static let values = DataSourceRule(rawValue: "values")
    /// Adding a value twice is adding it once.
    public static let adding = DataSourceRule(rawValue: "adding")
    /// Adding and deleting an object removes that object and no other.
    public static let deleting = DataSourceRule(rawValue: "deleting")
    /// Syncing the same list again writes nothing.
    public static let syncing = DataSourceRule(rawValue: "syncing")
    /// The order of the values does not matter, nor does how many are added at once.
    public static let order = DataSourceRule(rawValue: "order")
    /// A batch that throws leaves nothing: not in the store, and not in the data source.
    public static let throwing = DataSourceRule(rawValue: "throwing")

    public var description: String { rawValue }
}

/// A rule that a data source breaks, and how.
public struct DataSourceViolation: Sendable, Hashable, CustomStringConvertible {
    /// The rule that is broken.
    public let rule: DataSourceRule
    /// What was tried, what happened, and what to do about it. It may show the values of objects.
    public let explanation: String

    public var description: String { "\(rule): \(explanation)" }
}

/// The rules that a data source breaks, as one error.
public struct DataSourceContractError: Error, Sendable, CustomStringConvertible {
    /// Every rule that is broken, at least one.
    public let violations: [DataSourceViolation]

    public var description: String {
        "The data source breaks \(violations.count == 1 ? "a rule" : "\(violations.count) rules"):\n"
            + violations.map { "- \($0)" }.joined(separator: "\n")
    }
}
