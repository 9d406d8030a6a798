internal import ManagedModel
internal import RowStore

/// Gives each thing a name of its own. SQLite takes two names that differ in the case of ASCII letters for one.
///
/// The names given depend on the order of asking only, so a store finds its tables again.
struct Names {
    private var taken: Set<[UInt8]>

    init(reserved: [String]) {
        taken = Set(reserved.map(folded))
    }

    /// The name itself, or with as many underscores behind it as make it new.
    mutating func claim(_ name: String) throws(DataSourceError) -> String {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw DataSourceError(
                .unreadableModel, "The model has a name that is empty or holds a NUL character. Rename it.")
        }
        // SQLite keeps this beginning for itself.
        var claimed = folded(name).starts(with: "sqlite_".utf8) ? "_" + name : name
        while !taken.insert(folded(claimed)).inserted { claimed += "_" }
        return claimed
    }
}

private func folded(_ name: String) -> [UInt8] {
    name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
}

extension String {
    /// As SQL spells a name. Names are always quoted: any keyword, space or quote may be in them.
    var quoted: String {
        "\"" + parts(separatedBy: "\"").joined(separator: "\"\"") + "\""
    }
    /// As SQL spells a text.
    var quotedText: String {
        "'" + parts(separatedBy: "'").joined(separator: "''") + "'"
    }
}
