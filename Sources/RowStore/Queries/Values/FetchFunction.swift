/// The functions of expressions.
package enum FetchFunction: String, Sendable, Hashable, Codable, CaseIterable {
    case uppercase, lowercase
    /// Without case and marks.
    case canonical
    /// In characters.
    case length
    case abs, floor, ceiling, trunc, sqrt
    /// The logarithm to the base e, that to the base 10, and the power of e.
    case ln, log, exp
    /// An integer with each of its bits inverted.
    case onesComplement
    /// The time at which the query was made.
    case now
    // For lists: null elements do not count.
    case sum, min, max, average, count
    /// The middle element, or the mean of the two in the middle.
    case median
    /// The most frequent element; the least of several.
    case mode
    /// The standard deviation of the whole list, divided by its count.
    case stddev
}
