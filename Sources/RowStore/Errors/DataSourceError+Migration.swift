extension DataSourceError {
    /// - Parameter notMigratable: The reason, in whole sentences.
    package init(notMigratable reason: String) {
        self.init(.notMigratable, reason)
    }
}

extension DataSourceError.Code {
    /// Rows cannot be carried over. Opening then does what the policy says; no caller sees this error.
    package static let notMigratable = Self(rawValue: "notMigratable")
}
