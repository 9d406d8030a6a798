/// Who maintains packages.
public struct MaintainerRecord: Sendable, Hashable {
    /// What tells maintainers apart: the address, in lower case; the name of one who has none.
    public let key: String
    public let name: String
    public let email: String?
    /// How many packages name this maintainer.
    public private(set) var packageCount = 0

    /// Reads `Jane Doe <jane@example.org>`, or either half of it; nil for empty text.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let opening = bytes.firstIndex(of: UInt8(ascii: "<")) ?? bytes.endIndex
        let address = bytes[opening...].dropFirst().prefix { $0 != UInt8(ascii: ">") }
        name = bytes[..<opening].trimmed.text ?? ""
        email = address.trimmed.text
        key = email?.lowercased() ?? name
        if key.isEmpty { return nil }
    }

    /// The maintainers of the packages, sorted by key, each with the number of its packages.
    ///
    /// Of packages with the same key, and of the names that one address comes with, the last one counts.
    public static func all(of packages: [PackageRecord]) -> [MaintainerRecord] {
        var seen: Set<String> = []
        var maintainers: [String: MaintainerRecord] = [:]
        for package in packages.reversed() where seen.insert(package.key).inserted {
            guard let maintainer = package.maintainer else { continue }
            maintainers[maintainer.key, default: maintainer].packageCount += 1
        }
        return maintainers.values.sorted { $0.key < $1.key }
    }
}
