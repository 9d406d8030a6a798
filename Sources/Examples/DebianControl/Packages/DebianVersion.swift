/// A Debian version, `[epoch:]upstream[-revision]`, in Debian's order.
///
/// Source: the Debian Policy Manual, section 5.6.12, "Version".
public struct DebianVersion: Sendable {
    public let text: String
    private let epoch: Int
    private let upstream: [UInt8]
    private let revision: [UInt8]

    public init(_ text: String) {
        self.text = text
        var rest = Array(text.utf8)[...]
        if let colon = rest.firstIndex(of: .colon) {
            epoch = Int(String(decoding: rest[..<colon], as: UTF8.self)) ?? 0
            rest = rest[(colon + 1)...]
        } else {
            epoch = 0
        }
        let dash = rest.lastIndex(of: UInt8(ascii: "-")) ?? rest.endIndex
        upstream = Array(rest[..<dash])
        revision = Array(rest[dash...].dropFirst())
    }

    /// Compares two upstream versions, or two revisions, part by part. A version begins with a part without digits. A
    /// number comes next, then another part without digits, and so on. Letters come before other characters, and `~`
    /// comes even before the end of a part.
    private static func order(_ lhs: [UInt8], _ rhs: [UInt8]) -> Int {
        var (lhs, rhs) = (lhs[...], rhs[...])
        while !lhs.isEmpty || !rhs.isEmpty {
            while lhs.first.map({ !$0.isDigit }) ?? false || rhs.first.map({ !$0.isDigit }) ?? false {
                let (left, right) = (weight(lhs.first), weight(rhs.first))
                if left != right { return left - right }
                lhs = lhs.dropFirst()
                rhs = rhs.dropFirst()
            }
            let (left, right) = (takeNumber(&lhs), takeNumber(&rhs))
            if left.count != right.count { return left.count - right.count }
            if !left.elementsEqual(right) { return left.lexicographicallyPrecedes(right) ? -1 : 1 }
        }
        return 0
    }

    /// The weight of a character in the order of parts. Nil, the end of the version, has the weight of a digit.
    private static func weight(_ byte: UInt8?) -> Int {
        guard let byte, !byte.isDigit else { return 0 }
        if byte == UInt8(ascii: "~") { return -1 }
        return byte.isLetter ? Int(byte) : Int(byte) + 256
    }

    /// Removes the digits at the beginning, and returns them without leading zeros.
    private static func takeNumber(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = text.prefix(while: \.isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}

extension DebianVersion: Comparable {
    private func order(_ other: DebianVersion) -> Int {
        if epoch != other.epoch { return epoch < other.epoch ? -1 : 1 }
        let order = DebianVersion.order(upstream, other.upstream)
        return order != 0 ? order : DebianVersion.order(revision, other.revision)
    }

    public static func < (lhs: DebianVersion, rhs: DebianVersion) -> Bool { lhs.order(rhs) < 0 }

    /// Whether Debian treats the versions as equal, such as `1.0` and `1.00`.
    public static func == (lhs: DebianVersion, rhs: DebianVersion) -> Bool { lhs.order(rhs) == 0 }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased) }
}
