#if PostgreSQL
internal import ManagedModel
internal import RowStore

/// Gives each element a unique name that the server can store: at most 63 bytes. Longer names are cut, and end in a hash.
///
/// The names depend only on the order of the requests, so that a store finds its tables again.
struct Identifiers {
    private var taken: Set<String>

    /// The longest name of a server, in bytes: `NAMEDATALEN` less one.
    private static let byteLimit = 63
    /// Names that every table of the server already has.
    static let systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    init(reserved: [String]) { taken = Set(reserved) }

    mutating func claim(_ name: String) throws(DataSourceError) -> String {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw DataSourceError(
                .unreadableModel, "The model has a name that is empty or contains a NUL character. Rename it.")
        }
        var wanted = name
        while true {
            let claimed = Identifiers.fitting(wanted)
            if taken.insert(claimed).inserted { return claimed }
            wanted += "_"
        }
    }

    /// The same number for the same name, in every process.
    static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// The name itself, or its beginning and a hash of the whole.
    static func fitting(_ name: String) -> String {
        guard name.utf8.count > byteLimit else { return name }
        let digits = String(hash(name), radix: 16)
        let suffix = "_" + String(repeating: "0", count: 16 - digits.count) + digits
        var start = ""
        for scalar in name.unicodeScalars {
            guard start.utf8.count + String(scalar).utf8.count + suffix.utf8.count <= byteLimit else { break }
            start.unicodeScalars.append(scalar)
        }
        return start + suffix
    }
}

extension String {
    /// The name as SQL. Names are always quoted, because they may contain any keyword, space or quote.
    var quoted: String { "\"" + parts(separatedBy: "\"").joined(separator: "\"\"") + "\"" }
    /// The string as SQL.
    var quotedText: String { "'" + parts(separatedBy: "'").joined(separator: "''") + "'" }
}
#endif
