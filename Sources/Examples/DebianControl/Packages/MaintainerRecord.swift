/// A maintainer of packages.
public struct MaintainerRecord: Sendable, Hashable {
    /// Identifies a maintainer: the address in lower case, or the name if there is no address.
    public let key: String
    public let name: String
    public let email: String?
    /// How many packages name this maintainer.
    public private(set) var packageCount = 0

    /// Reads `Jane Doe <jane@example.org>`, or either half of it; nil for an empty string.
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
    /// If several packages have the same key, or an address comes with several names, the last one counts.
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
