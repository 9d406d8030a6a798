/// The record of a package in a control file.
public struct PackageRecord: Sendable, Hashable {
    public let name: String
    public let architecture: String
    public let version: String
    public let section: String
    public let priority: String
    public let maintainer: MaintainerRecord?
    public let summary: String
    public let homepage: String?
    /// The size of the installed package, in KiB.
    public let installedSize: Int64
    /// The size of the package's file, in bytes.
    public let size: Int64?
    public let sha256: String?
    public let depends: String?
    /// The packages that must be installed before this package is unpacked.
    public let preDepends: String?
    /// Other names that the package provides.
    public let provides: [PackageReference]
    /// The requirements from `Pre-Depends`, followed by the requirements from `Depends`.
    public let requirements: [Requirement]
    public let status: String?

    /// A requirement of a package. Any one of the alternatives is enough.
    public struct Requirement: Sendable, Hashable {
        /// The name of the field: `Depends` or `Pre-Depends`.
        public let field: String
        /// The alternative packages, in the order of preference.
        public let alternatives: [PackageReference]
    }

    /// Identifies a package in the notation of apt: `name:architecture=version`.
    public var key: String { "\(name):\(architecture)=\(version)" }

    /// - Parameter record: A record from a ``ControlParser`` with the leading field `Package`.
    /// - Throws: A fault for a missing, malformed or duplicate field.
    public init(_ record: ControlRecord) throws(ControlFault) {
        if let fault = record.fault { throw fault }
        if !record.hasLeadingField { throw ControlFault(line: record.line, message: "Package is missing") }
        status = try record.unfolded("Status")
        // dpkg also has records of packages that were removed, or that were only requested. Such a record can lack the
        // architecture and the version, which become empty strings here.
        let isAbsent = status?.hasSuffix(" not-installed") == true || status?.hasSuffix(" config-files") == true
        name = try record.word("Package", orEmpty: false)
        architecture = try record.word("Architecture", orEmpty: isAbsent)
        version = try record.word("Version", orEmpty: isAbsent)
        section = try record.unfolded("Section") ?? ""
        priority = try record.unfolded("Priority") ?? ""
        maintainer = try record.unfolded("Maintainer").flatMap { MaintainerRecord($0) }
        summary = try record.firstLine("Description") ?? ""
        homepage = try record.unfolded("Homepage")
        installedSize = try record.number("Installed-Size") ?? 0
        size = try record.number("Size")
        sha256 = try record.unfolded("SHA256")
        depends = try record.unfolded("Depends")
        preDepends = try record.unfolded("Pre-Depends")
        let preDependencies = try record.references("Pre-Depends").map {
            Requirement(field: "Pre-Depends", alternatives: $0)
        }
        requirements =
            preDependencies + (try record.references("Depends").map { Requirement(field: "Depends", alternatives: $0) })
        provides = Array(try record.references("Provides").joined())
    }
}

extension UInt8 {
    fileprivate var isKeySeparator: Bool { self == .colon || self == UInt8(ascii: "=") }
}

extension ControlRecord {
    /// The value of a field that is a part of a package's key. The value must be one word.
    fileprivate func word(_ name: String, orEmpty: Bool) throws(ControlFault) -> String {
        guard let text = try unfolded(name) else {
            if orEmpty { return "" }
            throw ControlFault(line: line, message: "\(name) is missing")
        }
        // Only a version can contain the characters that separate the parts of a key.
        if text.utf8.contains(where: { $0.isBlank || name != "Version" && $0.isKeySeparator }) {
            throw ControlFault(line: line(of: name), message: "\(name) contains a space, a colon or an equals sign")
        }
        return text
    }

    /// The packages in the value of a field; empty if the field is missing.
    fileprivate func references(_ name: String) throws(ControlFault) -> [[PackageReference]] {
        guard let text = try unfolded(name) else { return [] }
        guard let references = PackageReference.requirements(text) else {
            throw ControlFault(line: line(of: name), message: "\(name) is not a list of packages")
        }
        return references
    }

    fileprivate func number(_ name: String) throws(ControlFault) -> Int64? {
        guard let text = try unfolded(name) else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw ControlFault(line: line(of: name), message: "\(name) is not a number")
        }
        return number
    }
}

/// A maintainer of packages.
public struct MaintainerRecord: Sendable, Hashable {
    /// Identifies a maintainer: the address in lower case, or the name if there is no address.
    public let key: String
    public let name: String
    public let email: String?
    /// The number of packages that name this maintainer.
    public private(set) var packageCount = 0

    /// Reads `Jane Doe <jane@example.org>`, only the name, or only the address; nil for an empty string.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let opening = bytes.firstIndex(of: UInt8(ascii: "<")) ?? bytes.endIndex
        let address = bytes[opening...].dropFirst().prefix { $0 != UInt8(ascii: ">") }
        name = bytes[..<opening].trimmed.text ?? ""
        email = address.trimmed.text
        key = email?.lowercased() ?? name
        if key.isEmpty { return nil }
    }

    /// Returns the maintainers of the packages, sorted by key, each with the number of its packages.
    ///
    /// If several packages have the same key, only the last package is counted. If several names have the same address, the
    /// last name is used.
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
