extension StringProtocol {
    /// The parts of a name or a path, compared by Unicode scalars.
    ///
    /// A string is a sequence of characters, and a separator followed by a combining mark is another character than the
    /// separator alone. SQL, paths and formats work with scalars, so splitting by characters would miss some separators.
    package func parts(separatedBy separator: Unicode.Scalar, omittingEmpty: Bool = false) -> [String] {
        unicodeScalars.split(separator: separator, omittingEmptySubsequences: omittingEmpty).map {
            String(String.UnicodeScalarView($0))
        }
    }

    /// What follows the prefix, compared by Unicode scalars; nil if the string does not begin with it.
    package func remainder(afterPrefix prefix: String) -> String? {
        guard unicodeScalars.starts(with: prefix.unicodeScalars) else { return nil }
        return String(String.UnicodeScalarView(unicodeScalars.dropFirst(prefix.unicodeScalars.count)))
    }
}
