extension StringProtocol {
    /// The parts of a string, split at a Unicode scalar.
    ///
    /// Splitting by characters would miss a separator before a combining mark, because the separator and the mark are one
    /// character. SQL, paths and formats are split by scalars, too.
    package func parts(separatedBy separator: Unicode.Scalar, omittingEmpty: Bool = false) -> [String] {
        unicodeScalars.split(separator: separator, omittingEmptySubsequences: omittingEmpty).map {
            String(String.UnicodeScalarView($0))
        }
    }

    /// The rest of the string after a prefix, compared by Unicode scalars; nil if the string does not begin with the prefix.
    package func remainder(afterPrefix prefix: String) -> String? {
        guard unicodeScalars.starts(with: prefix.unicodeScalars) else { return nil }
        return String(String.UnicodeScalarView(unicodeScalars.dropFirst(prefix.unicodeScalars.count)))
    }
}
