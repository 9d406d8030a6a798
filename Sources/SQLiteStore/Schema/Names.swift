internal import ManagedModel
internal import RowStore

/// Gives each element a unique name. SQLite ignores the case of ASCII letters in names.
///
/// The names depend only on the order of the requests, so a store finds its tables again.
struct Names {
    private var taken: Set<[UInt8]>

    init(reserved: [String]) {
        taken = Set(reserved.map(folded))
    }

    /// The name itself, or with as many underscores as are needed to make it unique.
    mutating func claim(_ name: String) throws(DataSourceError) -> String {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw DataSourceError(
                .unreadableModel, "The model has a name that is empty or contains a NUL character. Rename it.")
        }
        // SQLite reserves this prefix.
        var claimed = folded(name).starts(with: "sqlite_".utf8) ? "_" + name : name
        while !taken.insert(folded(claimed)).inserted { claimed += "_" }
        return claimed
    }
}

private func folded(_ name: String) -> [UInt8] {
    name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
}

extension String {
    /// The name as SQL. Names are always quoted, because they may contain any keyword, space or quote.
    var quoted: String {
        utf8.contains(UInt8(ascii: "\""))
            ? "\"" + parts(separatedBy: "\"").joined(separator: "\"\"") + "\"" : "\"\(self)\""
    }
    /// The string as SQL.
    var quotedText: String {
        "'" + parts(separatedBy: "'").joined(separator: "''") + "'"
    }
}
