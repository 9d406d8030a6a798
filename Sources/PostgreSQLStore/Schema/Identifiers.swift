#if PostgreSQL
internal import RowStore

/// Names that the server can store: at most 63 bytes. A longer name is cut, and ends in a hash.
enum Identifiers {
    /// The longest name that a server can store, in bytes: `NAMEDATALEN` minus 1.
    private static let byteLimit = 63
    /// The names of columns that every table on the server has.
    static let systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    /// Unique names of tables or columns.
    static func unique(besides reserved: [String]) -> SQLNames<String> {
        SQLNames(reserved: reserved, key: \.self, fitting: fitting)
    }

    /// Hashes a name. The hash is the same in every process.
    static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// The name itself, or its beginning and a hash of the whole name.
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
#endif
