/// A string that is compared byte by byte, as stores compare strings. Swift counts a composed and a decomposed character as
/// equal.
package struct ExactString: Hashable, Sendable {
    package let string: String

    package init(_ string: String) { self.string = string }

    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.string.utf8.elementsEqual(rhs.string.utf8) }

    // Strings of equal bytes are equal, so their hashes are equal, too.
    package func hash(into hasher: inout Hasher) { hasher.combine(string) }
}
